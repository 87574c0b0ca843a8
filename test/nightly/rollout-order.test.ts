import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { Deployment } from '../../src/machinery/kubernetes/index.js';
import { Namespace } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { SharedUp } from '../e2e/support/shared-up.js';

const binary = anyKubectl()?.binary;
const P = 'rollkeeper.dev/';

describe.skipIf(!binary)('rollouts in an order', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-order-'));
  let up: SharedUp;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await client?.close();
    await up.give();
  });

  async function inNamespace(namespace: string): Promise<Rollouts> {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    return new Rollouts(client, namespace);
  }

  /** `web` after `api`, which is after `db`, applied in the wrong order by one command. */
  async function apply(
    namespace: string,
    release: string,
    images: Readonly<Record<string, string>>,
  ): Promise<void> {
    const after: Readonly<Record<string, string>> = { web: 'deployment/api', api: 'deployment/db' };
    const items = ['web', 'api', 'db'].map((name): Deployment => {
      const base = aDeployment({ namespace, name, replicas: 2, image: images[name] ?? '' });
      const annotations = {
        [`${P}release`]: release,
        [`${P}fail-after`]: '5s',
        ...(after[name] !== undefined && { [`${P}after`]: after[name] }),
      };
      return { ...base, metadata: { ...base.metadata, annotations } };
    });
    const file = join(folder, `${namespace}-${release}.json`);
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const applied = await up.kubectl(binary ?? '', ['apply', '-f', file]);
    expect(applied.code, applied.stderr).toBe(0);
  }

  async function says(rollouts: Rollouts, name: string, text: string): Promise<void> {
    await waitFor(
      async () => {
        const { status } = await rollouts.read(name);
        const found = status?.conditions?.find(({ type }) => type === 'Progressing');
        return `${found?.reason} ${found?.message}`.includes(text);
      },
      { what: `${name} to say ${text}`, timeoutMs: 60_000 },
    );
  }

  const imageOf = async (rollouts: Rollouts, name: string): Promise<string | undefined> =>
    (await rollouts.read(name)).spec.template.spec?.containers[0]?.image;

  it('begin one after the other from the first version on, although the leader is killed in the middle [kubernetes#3554]', async () => {
    const namespace = 'order';
    const rollouts = await inNamespace(namespace);
    await apply(namespace, 'one', { web: 'web:1', api: 'api:1', db: 'db:broken' });
    await says(rollouts, 'web', 'waits for deployment/api, which waits for deployment/db');
    process.kill((await up.leader()).pid, 'SIGKILL');
    await rollouts.setImage('db', 'db:1');
    for (const name of ['db', 'api', 'web']) await rollouts.rolledOut(name);
    const started = await Promise.all(
      ['db', 'api', 'web'].map(async (name) => (await firstSetOf(namespace, name)) ?? ''),
    );
    expect(started).toEqual(started.toSorted());
  });

  /** When the first pod of a Deployment was created. */
  async function firstSetOf(namespace: string, name: string): Promise<string | undefined> {
    const path = 'jsonpath={.items[*].metadata.creationTimestamp}';
    const { stdout } = await up.kubectl(binary ?? '', [
      '-n',
      namespace,
      'get',
      'pods',
      '-l',
      `app=${name}`,
      '-o',
      path,
    ]);
    return stdout.trim().split(' ').toSorted()[0];
  }

  it('go back together where one of their release fails, those that have not begun included [rollout-operator#461]', async () => {
    const namespace = 'release';
    const rollouts = await inNamespace(namespace);
    await apply(namespace, 'one', { web: 'web:1', api: 'api:1', db: 'db:1' });
    for (const name of ['db', 'api', 'web']) await rollouts.rolledOut(name);
    await apply(namespace, 'two', { web: 'web:2', api: 'api:broken', db: 'db:2' });
    await waitFor(
      async () =>
        (await imageOf(rollouts, 'web')) === 'web:1' &&
        (await imageOf(rollouts, 'api')) === 'api:1' &&
        (await imageOf(rollouts, 'db')) === 'db:1',
      { what: 'all to go back', timeoutMs: 90_000 },
    );
    await says(rollouts, 'db', 'release two failed by deployment/api');
    for (const name of ['db', 'api', 'web']) await says(rollouts, name, 'RolledBack');
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Namespace } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { Up, run } from '../e2e/support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const P = 'rollkeeper.dev/';
const NAMESPACE = 'remembered';
const binary = anyKubectl()?.binary;

interface Shown {
  readonly revision: number;
  readonly trigger?: string;
  readonly by?: string;
  readonly user?: string;
  readonly why?: string;
  readonly what?: string;
  readonly result: string;
}

describe.skipIf(!binary)('the history of a Deployment, with real processes', () => {
  let up: Up;
  let client: HttpApiClient;
  let rollouts: Rollouts;

  beforeAll(async () => {
    up = await Up.start();
    client = await up.client();
    const metadata = { name: NAMESPACE, annotations: { [`${P}history`]: 'on' } };
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
    rollouts = new Rollouts(client, NAMESPACE);
  });
  afterAll(async () => {
    await client?.close();
    await up?.stopAndRemove();
  });

  const kubectl = (...args: string[]) => up.kubectl(binary ?? '', ['-n', NAMESPACE, ...args]);
  const rollkeeper = (...args: string[]) =>
    run(process.execPath, [MAIN, ...args, '--kubeconfig', up.kubeconfig, '-n', NAMESPACE]);
  const history = async (name: string): Promise<Shown[]> => {
    const { code, stdout } = await rollkeeper('rollout', 'history', `deployment/${name}`, '-o', 'json');
    expect(code).toBe(0);
    return JSON.parse(stdout) as Shown[];
  };

  it('says who changed what, why, and how it ended, also across the death of the leader', async () => {
    const deployment = aDeployment({ namespace: NAMESPACE, name: 'web', replicas: 3 });
    await client.create(Deployment, deployment);
    await rollouts.rolledOut('web');
    await kubectl('annotate', 'deployment', 'web', `${P}on-failure=rollback`, `${P}fail-after=5s`);
    await kubectl('set', 'image', 'deployment/web', 'web=web:broken');
    const { pid } = await up.leader();
    process.kill(pid ?? 0, 'SIGKILL');
    await waitFor(async () => (await history('web')).length === 3, { what: 'the rollback to be a revision' });
    await rollouts.rolledOut('web');
    const undone = await rollkeeper('rollout', 'undo', 'deployment/web', '--to-revision', '2', '--dry-run');
    expect(undone.stdout).toBe('container web: image web:1 → web:broken\n');
    const restarted = await rollkeeper(
      'rollout',
      'restart',
      'deployment/web',
      '--reason',
      'leaks',
      '--by',
      'ben',
    );
    expect(restarted.code).toBe(0);
    await rollouts.rolledOut('web');
    await waitFor(async () => (await history('web')).at(-1)?.result === 'good', {
      what: 'the last revision to be good',
    });
    expect(await history('web')).toMatchObject([
      { revision: 1, trigger: 'change', user: 'admin', result: 'complete' },
      {
        revision: 2,
        trigger: 'change',
        user: 'admin',
        result: 'failed',
        what: 'container web: image web:1 → web:broken',
      },
      { revision: 3, trigger: 'rollback', by: 'rollkeeper', result: 'good' },
      { revision: 4, trigger: 'restart', by: 'ben', user: 'admin', why: 'leaks', result: 'good' },
    ]);
  });
});

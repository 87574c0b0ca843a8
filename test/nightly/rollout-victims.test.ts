import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Pod, ReplicaSet, isPodActive } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { SharedUp } from '../e2e/support/shared-up.js';
import { run } from '../e2e/support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const binary = anyKubectl()?.binary;
const namespace = 'victims';

describe('scaling down by name', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let rollouts: Rollouts;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
    await up.createNamespace(client, namespace);
    rollouts = new Rollouts(client, namespace);
  });

  afterAll(async () => {
    await client?.close();
    await up.give();
  });

  async function start(name: string, replicas: number): Promise<string[]> {
    await client.create(Deployment, aDeployment({ namespace, name, replicas }));
    await rollouts.rolledOut(name);
    return pods(name);
  }

  async function pods(app: string): Promise<string[]> {
    const { items } = await client.list<Pod>(Pod, { namespace, labelSelector: `app=${app}` });
    return items.filter((pod) => isPodActive(pod)).map(({ metadata }) => metadata.name);
  }

  function scale(...args: string[]): ReturnType<typeof run> {
    return run(process.execPath, [MAIN, 'scale', ...args, '-n', namespace, '--kubeconfig', up.kubeconfig]);
  }

  it('takes the named pods of a Deployment, and refuses others', async () => {
    const [first = '', second = '', third = ''] = await start('web', 5);
    const planned = await scale('deployment/web', '--replicas', '3', '--remove', `pod/${first}`, '--dry-run');
    expect(planned).toMatchObject({
      code: 0,
      stdout: `deployments.apps/web would be scaled from 5 to 3, without ${first}\n`,
    });
    const refused = await scale('deployment/web', '--replicas', '4', '--remove', `pod/${first},pod/${third}`);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('it gives up 1');
    const done = await scale('deployment/web', '--replicas', '3', '--remove', `pod/${first},pod/${second}`);
    expect(done).toMatchObject({ code: 0 });
    await waitFor(async () => (await pods('web')).length === 3, { what: 'three pods' });
    const left = await pods('web');
    expect(left).not.toContain(first);
    expect(left).not.toContain(second);
    expect(left).toContain(third);
  });

  it('takes the named pods of a ReplicaSet', async () => {
    const { metadata, spec } = aDeployment({ namespace, name: 'alone', replicas: 3 });
    await client.create(ReplicaSet, {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata },
      spec: { replicas: 3, selector: spec.selector, template: spec.template },
    });
    await waitFor(async () => (await pods('alone')).length === 3, { what: 'its pods' });
    const [, second = ''] = await pods('alone');
    expect(await scale('rs/alone', '--replicas', '2', '--remove', `pod/${second}`)).toMatchObject({
      code: 0,
    });
    expect(await pods('alone')).not.toContain(second);
  });

  it.skipIf(!binary)(
    'takes those that a tool names in an annotation, although the leader is killed meanwhile',
    async () => {
      const [first = '', second = ''] = await start('tool', 4);
      const annotations = { 'rollkeeper.dev/remove-pods': `${first}, ${second}` };
      const patch = JSON.stringify({ metadata: { annotations }, spec: { replicas: 2 } });
      const args = ['-n', namespace, 'patch', 'deployment', 'tool', '--type', 'merge', '-p', patch];
      expect((await up.kubectl(binary ?? '', args)).code).toBe(0);
      process.kill((await up.leader()).pid, 'SIGKILL');
      await rollouts.rolledOut('tool');
      const left = await pods('tool');
      expect(left).toHaveLength(2);
      expect(left).not.toContain(first);
      expect(left).not.toContain(second);
      const { metadata } = await rollouts.read('tool');
      expect(metadata.annotations).not.toHaveProperty('rollkeeper.dev/remove-pods');
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { PodDisruptionBudget } from '../../src/runtime/index.js';
import { Deployment, Pod, isPodActive, isPodReady } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { SharedUp } from '../e2e/support/shared-up.js';

const binary = anyKubectl()?.binary;
const namespace = 'budgets';

describe('a rollout that respects disruption budgets', () => {
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

  async function start(name: string, minAvailable: number): Promise<void> {
    const deployment = aDeployment({ namespace, name, replicas: 4 });
    await client.create(Deployment, {
      ...deployment,
      metadata: { ...deployment.metadata, annotations: { 'rollkeeper.dev/disruption-budgets': 'respect' } },
      spec: { ...deployment.spec, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 3 } } },
    });
    await client.create(PodDisruptionBudget, {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace, name } },
      spec: { minAvailable, selector: { matchLabels: { app: name } } },
    });
    await rollouts.rolledOut(name);
    await budget(name, (allowed) => allowed === 4 - minAvailable);
  }

  async function budget(name: string, isThere: (allowed: number | undefined) => boolean): Promise<void> {
    await waitFor(
      async () => {
        const { status } = await client.get<PodDisruptionBudget>(PodDisruptionBudget, { namespace, name });
        return isThere(status?.disruptionsAllowed);
      },
      { what: `the budget ${name}` },
    );
  }

  async function ready(name: string): Promise<number> {
    const { items } = await client.list<Pod>(Pod, { namespace, labelSelector: `app=${name}` });
    return items.filter((pod) => isPodReady(pod) && isPodActive(pod)).length;
  }

  async function progressing(name: string): Promise<string> {
    const { status } = await rollouts.read(name);
    return status?.conditions?.find(({ type }) => type === 'Progressing')?.reason ?? '';
  }

  it.skipIf(!binary)(
    'waits for a budget, says so, and goes on when a person changes it with kubectl',
    async () => {
      await start('waits', 4);
      await rollouts.setImage('waits', 'web:2');
      await waitFor(async () => (await progressing('waits')) === 'WaitingForBudget', { what: 'it to wait' });
      expect(await ready('waits')).toBe(4);
      const args = ['-n', namespace, 'get', 'events', '-o', 'custom-columns=R:.reason', '--no-headers'];
      const { stdout } = await up.kubectl(binary ?? '', args);
      expect(stdout.match(/WaitingForBudget/g)).toHaveLength(1);
      const patch = ['patch', 'pdb', 'waits', '-p', '{"spec":{"minAvailable":2}}'];
      expect((await up.kubectl(binary ?? '', ['-n', namespace, ...patch])).code).toBe(0);
      await rollouts.rolledOut('waits');
    },
  );

  it('never has fewer ready pods than the budget wants, although its leader is killed in the middle', async () => {
    await start('guarded', 3);
    await rollouts.setImage('guarded', 'web:2');
    await waitFor(async () => (await rollouts.read('guarded')).status?.updatedReplicas === 1, {
      what: 'the first new pod',
      intervalMs: 5,
    });
    process.kill((await up.leader()).pid, 'SIGKILL');
    let fewest = Infinity;
    await waitFor(
      async () => {
        fewest = Math.min(fewest, await ready('guarded'));
        return rollouts.isRolledOut('guarded');
      },
      { what: 'the rollout', intervalMs: 10 },
    );
    expect(fewest).toBeGreaterThanOrEqual(3);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Namespace, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { SharedUp } from '../e2e/support/shared-up.js';

const binary = anyKubectl()?.binary;
const P = 'rollkeeper.dev/';

describe('rollouts at once in a namespace', () => {
  let up: SharedUp;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
  });

  afterAll(async () => {
    await client?.close();
    await up.give();
  });

  /** Deployments that are rolled out, of which so many may be at once. */
  async function start(namespace: string, max: number, names: readonly string[]): Promise<Rollouts> {
    const annotations = { [`${P}max-rollouts`]: String(max) };
    await client.create(Namespace, {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, annotations } },
    });
    const rollouts = new Rollouts(client, namespace);
    for (const name of names) {
      await client.create(Deployment, aDeployment({ namespace, name, replicas: 3 }));
      await rollouts.rolledOut(name);
    }
    return rollouts;
  }

  async function progressing(rollouts: Rollouts, name: string): Promise<string> {
    const { status } = await rollouts.read(name);
    return status?.conditions?.find(({ type }) => type === 'Progressing')?.reason ?? '';
  }

  it.skipIf(!binary)('wait for one that is paused no longer, and say behind whom', async () => {
    const namespace = 'turns';
    const rollouts = await start(namespace, 1, ['first', 'second']);
    await rollouts.setImage('first', 'web:broken');
    await waitFor(
      async () => (await rollouts.read('first')).metadata.annotations?.[`${P}turn`]?.includes('granted'),
      {
        what: 'the first to have its turn',
      },
    );
    await rollouts.setImage('second', 'web:2');
    await waitFor(async () => (await progressing(rollouts, 'second')) === 'WaitingForTurn', {
      what: 'the second to wait',
    });
    const kubectl = (...args: string[]) => up.kubectl(binary ?? '', ['-n', namespace, ...args]);
    const events = await kubectl('get', 'events', '-o', 'custom-columns=M:.message', '--no-headers');
    expect(events.stdout).toContain(`the next is ${namespace}/first`);
    expect((await kubectl('rollout', 'pause', 'deployment/first')).code).toBe(0);
    await rollouts.rolledOut('second');
  });

  it('are never more than the limit, and all have their turn, although the leader is killed in the middle', async () => {
    const namespace = 'turns-of-many';
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const rollouts = await start(namespace, 2, names);
    for (const name of names) await rollouts.setImage(name, 'web:2');
    process.kill((await up.leader()).pid, 'SIGKILL');
    let most = 0;
    await waitFor(
      async () => {
        const { items } = await client.list<ReplicaSet>(ReplicaSet, { namespace });
        const active = items.filter(({ spec }) => (spec.replicas ?? 1) > 0);
        const owners = Map.groupBy(active, ({ metadata }) => metadata.ownerReferences?.[0]?.uid);
        most = Math.max(most, [...owners.values()].filter(({ length }) => length > 1).length);
        const done = await Promise.all(names.map((name) => rollouts.isRolledOut(name)));
        return done.every(Boolean);
      },
      { what: 'all rollouts', intervalMs: 10 },
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
  });
});

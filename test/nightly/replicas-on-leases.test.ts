import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Lease, Pod, ReplicaSet, isControlledBy } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { Program } from '../e2e/support/program.js';
import { Rollouts } from '../e2e/support/rollouts.js';

const LEASE = { namespace: 'kube-system', name: 'rollkeeper' };

describe('replicas without a Redis', () => {
  let cluster: TestCluster;
  const replicas = new Map<string, Program>();
  const start = async (name: string): Promise<void> => {
    const replica = Program.spawn(name, [
      ...['controller', '--coordination', 'leases', '--kubeconfig', cluster.kubeconfig.path],
      ...['--controllers', 'deployment,replicaset', '--identity', name, '--admin-port', '0'],
    ]);
    replicas.set(name, replica);
    await replica.untilReady();
  };
  const lease = () => cluster.client.get<Lease>(Lease, LEASE);
  const leader = () =>
    waitFor(
      async () => {
        const holder = (await lease().catch(() => undefined))?.spec?.holderIdentity ?? '';
        return [...replicas.keys()].find((name) => holder.startsWith(`${name}_`));
      },
      { what: 'a leader' },
    );

  beforeAll(async () => {
    cluster = await startTestCluster({ controllers: [], nodes: 3 });
    await start('a');
    await leader();
    await start('b');
  });

  afterAll(async () => {
    for (const replica of replicas.values()) await replica.kill();
    await cluster.stop();
  });

  it('roll out, go on when the leader is killed amid a rollout, and make no pod too many', async () => {
    const rollouts = new Rollouts(cluster.client);
    await cluster.client.create(Deployment, aDeployment({ namespace: 'default', name: 'web', replicas: 20 }));
    await rollouts.rolledOut('web');
    const name = await leader();
    await rollouts.setImage('web', 'web:2');
    const before = (await lease()).spec?.leaseTransitions ?? 0;
    await waitFor(async () => (await rollouts.read('web')).status?.updatedReplicas, {
      what: 'the first new pods',
    });
    await replicas.get(name)?.kill();
    replicas.delete(name);
    await rollouts.rolledOut('web');
    expect((await lease()).spec?.leaseTransitions).toBeGreaterThan(before);
    const { items: sets } = await cluster.client.list<ReplicaSet>(ReplicaSet, { namespace: 'default' });
    const { items: pods } = await cluster.client.list<Pod>(Pod, { namespace: 'default' });
    for (const set of sets) {
      const own = pods.filter((pod) => isControlledBy(pod, set) && !pod.metadata.deletionTimestamp);
      expect(own.length).toBe(set.spec.replicas);
    }
  });

  it('hand over at a clean stop: the Lease is free before the process has ended', async () => {
    await start('c');
    const name = await leader();
    const stopped = replicas.get(name)?.process;
    const exited = new Promise<number | null>((resolve) => stopped?.once('exit', resolve));
    const seen: string[] = [];
    const watching = new AbortController();
    const { resourceVersion = '' } = (await lease()).metadata;
    const watch = (async () => {
      const options = { ...{ namespace: LEASE.namespace, fieldSelector: `metadata.name=${LEASE.name}` } };
      const limits = { timeoutSeconds: 60, idleTimeoutMs: 60_000, signal: watching.signal };
      for await (const event of cluster.client.watch<Lease>(Lease, {
        ...options,
        resourceVersion,
        ...limits,
      }))
        if (event.type === 'MODIFIED') seen.push(event.object.spec?.holderIdentity?.split('_')[0] ?? '');
    })().catch(() => undefined);
    stopped?.kill('SIGTERM');
    expect(await exited).toBe(0);
    replicas.delete(name);
    const next = await leader();
    watching.abort();
    await watch;
    expect(next).not.toBe(name);
    // The follower was woken by the release, and did not wait for the Lease to expire.
    // It need not have renewed once more before it was stopped.
    const all = [name, ...seen];
    const holders = all.filter((holder, index) => holder !== all[index - 1]);
    expect(holders.slice(holders.lastIndexOf(name), holders.lastIndexOf(name) + 3)).toEqual([name, '', next]);
  });
});

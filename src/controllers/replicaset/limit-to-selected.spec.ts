import { describe, expect, it, vi } from 'vitest';
import type { EnqueueRequest, SyncAccess } from '../../runtime/controller/index.js';
import { buildController } from '../../runtime/controller/index.js';
import { decideUnobserved } from '../../runtime/operator/define/sync-steps.js';
import { defineController } from '../../runtime/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { MemoryEventRecorder } from '../../testing/memory-event-recorder.js';
import {
  Deployment,
  ReplicaSet,
  RollkeeperDeployment,
  parseLabelSelector,
} from '../../machinery/kubernetes/index.js';
import { aDeployment } from '../../testing/deployment-builder.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { FakeInformers } from '../../testing/fake-informers.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { limitToSelected } from './limit-to-selected.js';

type Labels = Record<string, string>;

function aDeploymentWith(name: string, labels: Labels): Deployment {
  const deployment = aDeployment();
  return { ...deployment, metadata: { ...deployment.metadata, name, uid: `uid-of-${name}`, labels } };
}

/** A ReplicaSet of a Deployment, of another controller, or without an owner. */
function aReplicaSetOf(
  name: string,
  owner?: { apiVersion?: string; kind: string; name: string },
  labels: Labels = {},
): ReplicaSet {
  const replicaSet = aReplicaSet();
  const reference = owner && {
    apiVersion: owner.kind === 'Deployment' ? 'apps/v1' : 'argoproj.io/v1alpha1',
    ...owner,
    uid: `uid-of-${owner.name}`,
    controller: true,
  };
  const metadata = { ...replicaSet.metadata, name, uid: `uid-of-${name}`, labels };
  return { ...replicaSet, metadata: { ...metadata, ...(reference && { ownerReferences: [reference] }) } };
}

/** One installation with a selector, whose inner controller would process everything. */
function start(cluster: FakeCluster, selector: string) {
  const informers = new FakeInformers(cluster);
  const replicaSets = informers.informerFor<ReplicaSet>(ReplicaSet);
  const reconciled: string[] = [];
  const selection = limitToSelected({
    selects: parseLabelSelector(selector) ?? (() => true),
    deployments: [Deployment, RollkeeperDeployment].map((type) => ({
      type,
      informer: informers.informerFor<Deployment>(type),
    })),
    replicaSets: replicaSets.lister,
  });
  const definition = defineController<ReplicaSet>({
    name: 'limited',
    for: ReplicaSet,
    limit: selection,
    whileLeading: (enqueue) => selection.watch(enqueue),
    reconcile: async ({ key }) => void reconciled.push(key),
    needsSync: () => true,
    isDue: () => true,
  });
  const controller = buildController(definition, {
    ...{ informers, discovery: cluster, clock: new FakeClock(), random: new SeededRandom(1) },
    ...{ logger: silentLogger, events: new MemoryEventRecorder() },
  });
  const requests: EnqueueRequest[] = [];
  controller.watch((request) => void requests.push(request));
  const woken = (): string[] => [...new Set(requests.splice(0).map(({ ref }) => ref.name))].sort();
  const clear = vi.fn();
  const reconcile = (name: string): Promise<unknown> =>
    controller.sync(
      { key: `default/${name}`, namespace: 'default', name },
      {
        client: cluster,
        signal: new AbortController().signal,
        intents: { current: {}, clear },
      } as unknown as SyncAccess,
      decideUnobserved,
    );
  return { controller, requests, woken, reconcile, reconciled, clear };
}

function seed(): FakeCluster {
  const cluster = new FakeCluster();
  cluster.seed(Deployment, aDeploymentWith('mine', { shard: 'a' }));
  cluster.seed(Deployment, aDeploymentWith('theirs', { shard: 'b' }));
  // Its own labels contradict its Deployment's: the Deployment's count.
  cluster.seed(ReplicaSet, aReplicaSetOf('mine-1', { kind: 'Deployment', name: 'mine' }, { shard: 'b' }));
  cluster.seed(ReplicaSet, aReplicaSetOf('theirs-1', { kind: 'Deployment', name: 'theirs' }, { shard: 'a' }));
  cluster.seed(ReplicaSet, aReplicaSetOf('lost-1', { kind: 'Deployment', name: 'gone' }, { shard: 'a' }));
  cluster.seed(ReplicaSet, aReplicaSetOf('alone', undefined, { shard: 'a' }));
  cluster.seed(ReplicaSet, aReplicaSetOf('unlabelled'));
  cluster.seed(ReplicaSet, aReplicaSetOf('rollout-1', { kind: 'Rollout', name: 'r' }, { shard: 'a' }));
  return cluster;
}

describe('a controller of ReplicaSets with a selector', () => {
  it('works on those of selected Deployments whatever their own labels, and on those of others by their own', async () => {
    const { controller, reconcile, reconciled, woken } = start(seed(), 'shard=a');
    expect(woken()).toEqual(['alone', 'mine-1', 'rollout-1']);
    const due = [...(controller.due?.() ?? [])].map(({ ref }) => ref.name).sort();
    expect(due).toEqual(['alone', 'mine-1', 'rollout-1']);
    expect(controller.needsSync?.('default/mine-1')).toBe(true);
    expect(controller.needsSync?.('default/theirs-1')).toBe(false);
    for (const name of ['mine-1', 'theirs-1', 'alone', 'unlabelled', 'deleted']) await reconcile(name);
    expect(reconciled, 'what is gone has to be tidied up after').toEqual([
      'default/mine-1',
      'default/alone',
      'default/deleted',
    ]);
  });

  it('leaves to the complementary selector exactly the rest', () => {
    const cluster = seed();
    const [a, rest] = [start(cluster, 'shard=a').woken(), start(cluster, 'shard!=a').woken()];
    expect([...a, ...rest].sort()).toEqual(['alone', 'mine-1', 'rollout-1', 'theirs-1', 'unlabelled']);
  });

  it('goes by the Deployment of the API that the ReplicaSet names as its owner’s', () => {
    const cluster = new FakeCluster();
    cluster.seed(Deployment, aDeploymentWith('web', { shard: 'b' }));
    const custom = aDeploymentWith('web', { shard: 'a' });
    custom.metadata.uid = 'uid-of-custom';
    cluster.seed(RollkeeperDeployment, { ...custom, apiVersion: 'rollkeeper.dev/v1' });
    const replicaSet = aReplicaSetOf('web-1', {
      apiVersion: 'rollkeeper.dev/v1',
      kind: 'Deployment',
      name: 'web',
    });
    for (const owner of replicaSet.metadata.ownerReferences ?? []) owner.uid = 'uid-of-custom';
    cluster.seed(ReplicaSet, replicaSet);
    expect(start(cluster, 'shard=a').woken()).toEqual(['web-1']);
    expect(start(cluster, 'shard!=a').woken()).toEqual([]);
  });

  it('lets nobody take a key who has not seen the Deployment that makes it ours', () => {
    const cluster = seed();
    const { requests } = start(cluster, 'shard=a');
    const [deployment] = cluster.all<Deployment>(Deployment);
    const ofMine = requests.filter(({ ref }) => ref.name === 'mine-1');
    expect(ofMine.length).toBeGreaterThan(0);
    for (const { mustHaveSeen } of ofMine)
      expect(mustHaveSeen).toEqual([
        { type: Deployment, resourceVersion: deployment?.metadata.resourceVersion },
      ]);
  });

  it('begins and ends to work on a ReplicaSet with the label of its Deployment', async () => {
    const cluster = seed();
    const { clear, reconcile, reconciled, woken } = start(cluster, 'shard=a');
    woken();
    const [mine, theirs] = cluster.all<Deployment>(Deployment) as [Deployment, Deployment];
    await cluster.update(Deployment, relabelled(theirs, { shard: 'a' }));
    expect(woken()).toEqual(['theirs-1']);
    await cluster.update(Deployment, relabelled(mine, { shard: 'b' }));
    expect(woken()).toEqual([]);
    await reconcile('theirs-1');
    await reconcile('mine-1');
    expect(reconciled).toEqual(['default/theirs-1']);
    expect(clear, 'whoever works on it now does not know what we meant to do').toHaveBeenCalledOnce();
  });

  it('begins to work on one that is labelled, or loses its Deployment', async () => {
    const cluster = seed();
    const { woken } = start(cluster, 'shard=a');
    woken();
    const byName = (name: string): ReplicaSet =>
      cluster.all<ReplicaSet>(ReplicaSet).find(({ metadata }) => metadata.name === name) as ReplicaSet;
    await cluster.update(ReplicaSet, relabelled(byName('unlabelled'), { shard: 'a' }));
    expect(woken()).toEqual(['unlabelled']);
    const orphan = structuredClone(byName('theirs-1'));
    delete orphan.metadata.ownerReferences;
    await cluster.update(ReplicaSet, orphan);
    expect(woken()).toEqual(['theirs-1']);
  });
});

function relabelled<T extends { metadata: object }>(object: T, labels: Labels): T {
  return { ...object, metadata: { ...object.metadata, labels } };
}

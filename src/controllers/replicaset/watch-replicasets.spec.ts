import { describe, expect, it } from 'vitest';
import type { EnqueueRequest } from '../../runtime/controller/controller-definition.js';
import { buildController } from '../../runtime/controller/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { Pod, ReplicaSet, ResourceQuota } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { FakeInformers } from '../../testing/fake-informers.js';
import { MemoryEventRecorder } from '../../testing/memory-event-recorder.js';
import { aPod } from '../../testing/pod-builder.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { replicaSetController } from './definition.js';

function start() {
  const cluster = new FakeCluster();
  const owner = cluster.seed(ReplicaSet, {
    ...aReplicaSet({ replicas: 2 }),
    status: { replicas: 2, observedGeneration: 1 },
  });
  const informers = new FakeInformers(cluster);
  const built = buildController(replicaSetController, {
    informers,
    discovery: cluster,
    events: new MemoryEventRecorder(),
    clock: new FakeClock(),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  const requests: EnqueueRequest[] = [];
  const stop = built.watch((request) => void requests.push(request));
  const ownerUid = owner.metadata.uid!;
  const seedPod = (traits: Parameters<typeof aPod>[0] = {}): Pod =>
    cluster.seed(Pod, aPod({ ownerUid, ...traits }));
  const change = async (pod: Pod, mutate: (pod: Pod) => void): Promise<void> => {
    const changed = structuredClone(pod);
    mutate(changed);
    await cluster.update(Pod, changed);
  };
  /** Keys enqueued since the last call, as `name priority delay`. */
  const woken = (): string[] =>
    requests
      .splice(0)
      .map(({ ref, priority = 'normal', delayMs = 0 }) => `${ref.name} ${priority} ${delayMs}`);
  return { built, cluster, owner, requests, seedPod, change, woken, stop };
}

const READY = [{ type: 'Ready', status: 'True' as const, lastTransitionTime: '2026-01-01T00:00:00Z' }];

describe('the changes that wake a ReplicaSet', () => {
  it('room under a quota of its namespace, where it could not make its pods', async () => {
    const { cluster, owner, woken } = start();
    const aQuota = (used: string, namespace = 'default'): ResourceQuota => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace },
      status: { hard: { pods: '2' }, used: { pods: used } },
    });
    for (const namespace of ['default', 'other']) cluster.seed(ResourceQuota, aQuota('2', namespace));
    woken();
    const free = async (used: string, namespace = 'default'): Promise<void> =>
      void (await cluster.update(ResourceQuota, aQuota(used, namespace)));
    await free('1');
    expect(woken(), 'one that lacks nothing').toEqual([]);
    const failed: ReplicaSet = structuredClone(owner);
    failed.status = {
      replicas: 0,
      conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }],
    };
    await cluster.update(ReplicaSet, failed);
    woken();
    await free('1', 'other');
    await free('2');
    expect(woken(), 'room elsewhere, and none here').toEqual([]);
    await free('1');
    expect(woken()).toEqual(['web normal 0']);
  });

  it('the first list at low priority, then its own changes at high, with their cause', async () => {
    const { cluster, owner, requests, woken } = start();
    expect(woken()).toEqual(['web low 0']);
    owner.spec.replicas = 5;
    owner.metadata.generation = 2;
    const written = await cluster.update<ReplicaSet>(ReplicaSet, owner);
    expect(requests[0]?.cause).toEqual({
      type: ReplicaSet,
      resourceVersion: written.metadata.resourceVersion,
    });
    expect(woken()).toEqual(['web high 0']);
  });

  it('the first list at normal priority where pods are missing, or its last change was not seen', () => {
    const { built, cluster, stop } = start();
    stop();
    const seed = (name: string, generation: number, replicas: number): void => {
      const replicaSet = aReplicaSet({ replicas: 2 });
      const metadata = { ...replicaSet.metadata, name, uid: name, generation };
      cluster.seed(ReplicaSet, { ...replicaSet, metadata, status: { replicas, observedGeneration: 1 } });
    };
    seed('done', 1, 2);
    seed('unseen', 2, 2);
    seed('short', 1, 1);
    const requests: EnqueueRequest[] = [];
    built.watch((request) => void requests.push(request))();
    const found = requests.map(({ priority, ref }) => `${ref.name} ${priority}`);
    expect(found.sort()).toEqual(['done low', 'short normal', 'unseen normal', 'web low']);
  });

  it('its status, where that is not what the pods say: others may have written it', async () => {
    const { built, cluster, owner, requests, seedPod, woken } = start();
    for (const name of ['web-a', 'web-b']) seedPod({ name });
    woken();
    requests.splice(0);
    const write = async (replicas: number): Promise<void> => {
      const counts = { replicas, fullyLabeledReplicas: replicas, terminatingReplicas: 0 };
      owner.status = { ...counts, observedGeneration: owner.metadata.generation ?? 0 };
      const written = await cluster.update<ReplicaSet>(ReplicaSet, owner, { subresource: 'status' });
      owner.metadata.resourceVersion = written.metadata.resourceVersion;
    };
    await write(7);
    expect(requests.splice(0)).toMatchObject([{ onlyIfNeeded: true, priority: 'low' }]);
    expect(built.needsSync?.('default/web')).toBe(true);
    await write(2);
    expect(requests.splice(0)).toMatchObject([{ onlyIfNeeded: true }]);
    expect(built.needsSync?.('default/web')).toBe(false);
  });

  it('the last pod to become ready, at once: nothing more is to be expected', async () => {
    const { seedPod, change, woken } = start();
    const pods = [seedPod({ name: 'web-a' }), seedPod({ name: 'web-b' })];
    woken();
    for (const pod of pods) {
      await change(pod, (changed) => (changed.status = { phase: 'Running', conditions: READY }));
    }
    expect(woken()).toEqual(['web normal 100', 'web normal 0']);
  });

  it('a pod of its own that appears or becomes ready, after a moment', async () => {
    const { seedPod, change, woken } = start();
    woken();
    const pod = seedPod();
    expect(woken()).toEqual(['web normal 300']);
    await change(pod, (changed) => (changed.status = { phase: 'Running', conditions: READY }));
    expect(woken()).toEqual(['web normal 100']);
  });

  it('not what no decision depends on', async () => {
    const { seedPod, change, woken } = start();
    const pod = seedPod();
    woken();
    await change(pod, (changed) => (changed.status = { ...changed.status, podIP: '10.0.0.1' }));
    expect(woken()).toEqual([]);
  });

  it('a lost pod at once when it must be replaced, after a moment when it was one too many', async () => {
    const { cluster, owner, seedPod, woken } = start();
    const [first, second] = [seedPod({ name: 'a' }), seedPod({ name: 'b' })];
    woken();
    await cluster.delete(Pod, first.metadata);
    expect(woken()).toEqual(['web normal 0']);
    owner.spec.replicas = 1;
    owner.metadata.generation = 2;
    await cluster.update(ReplicaSet, owner);
    woken();
    await cluster.delete(Pod, second.metadata);
    expect(woken()).toEqual(['web normal 100']);
  });

  it('the end of a pod that did not count any more, late', async () => {
    const { cluster, seedPod, woken } = start();
    const pod = seedPod({ node: 'n1' });
    woken();
    await cluster.delete(Pod, pod.metadata);
    expect(woken(), 'terminating').toEqual(['web normal 0']);
    await cluster.delete(Pod, pod.metadata, { gracePeriodSeconds: 0 });
    expect(woken(), 'gone').toEqual(['web normal 1000']);
  });

  it('a pod that failed, at once', async () => {
    const { seedPod, change, woken } = start();
    const pod = seedPod();
    woken();
    await change(pod, (changed) => (changed.status = { phase: 'Failed' }));
    expect(woken()).toEqual(['web normal 0']);
  });

  it('an orphan that it selects, and no other', async () => {
    const { cluster, woken } = start();
    cluster.seed(ReplicaSet, {
      ...aReplicaSet({ selector: { matchLabels: { app: 'db' } } }),
      metadata: { name: 'db', namespace: 'default' },
    });
    woken();
    cluster.seed(Pod, aPod({ name: 'orphan' }));
    expect(woken()).toEqual(['web normal 100']);
    cluster.seed(Pod, aPod({ name: 'stranger', labels: { app: 'cache' } }));
    expect(woken()).toEqual([]);
  });

  it('a pod that was taken from it', async () => {
    const { seedPod, change, woken } = start();
    const pod = seedPod();
    woken();
    await change(pod, (changed) => {
      changed.metadata.ownerReferences = [];
      changed.metadata.labels = { app: 'debug' };
    });
    expect(woken()).toEqual(['web normal 0']);
  });

  it('not pods of a namesake that is gone, nor of other kinds', () => {
    const { seedPod, woken } = start();
    woken();
    seedPod({ name: 'old', ownerUid: 'uid-of-a-namesake' });
    seedPod({ name: 'else', ownerUid: 'x', ownerName: 'no-such' });
    expect(woken()).toEqual([]);
  });

  it('nothing after the watch was stopped', () => {
    const { stop, seedPod, woken } = start();
    woken();
    stop();
    seedPod();
    expect(woken()).toEqual([]);
  });

  it('needs no sync for a pod that appeared, or had ended before, once the status counts it', async () => {
    const { built, change, cluster, owner, requests, seedPod } = start();
    const first = seedPod({ name: 'web-a' });
    seedPod({ name: 'web-b' });
    expect(requests.splice(0).slice(-1)).toMatchObject([{ onlyIfNeeded: true }]);
    expect(built.needsSync?.('default/web')).toBe(true);
    const { generation: observedGeneration = 0 } = owner.metadata;
    const counts = { replicas: 2, fullyLabeledReplicas: 2, terminatingReplicas: 0 };
    const status = { ...counts, observedGeneration };
    await cluster.update<ReplicaSet>(ReplicaSet, { ...owner, status });
    expect(built.needsSync?.('default/web')).toBe(false);
    await change(first, (pod) => (pod.status = { phase: 'Running', conditions: READY }));
    expect(requests.pop()).toMatchObject({ onlyIfNeeded: false });
    expect(built.needsSync?.('default/web')).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../machinery/clock/index.js';
import { Pod } from '../../machinery/kubernetes/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { ReplicaSetHarness } from '../../testing/replicaset-harness.js';

describe('creations after pods that died', () => {
  it('are held back, and people are told so, until a pod becomes ready [kubernetes#72593, #134712]', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    await reject(harness);
    expect((await harness.activate()).result).toEqual({ requeueAfterMs: 1000 });
    const message =
      '1 pod died before it was ready, and none has become ready since (OutOfcpu); the next are created 1s after the last of them';
    expect(harness.events.lines.at(-1)).toBe(`Warning PodFailureBackOff ${message}`);
    const condition = { type: 'PodFailureBackOff', status: 'True', reason: 'OutOfcpu', message };
    expect(harness.replicaSet.status?.conditions).toMatchObject([condition]);
    expect(harness.activePods).toHaveLength(0);
    await harness.clock.advance(1000);
    await harness.settle();
    expect(harness.activePods).toHaveLength(1);
    const next = { ...condition, message: message.replace('1s', '2s') };
    expect(harness.replicaSet.status?.conditions).toMatchObject([next]);
    const conditions = [{ type: 'Ready', status: 'True' as const }];
    for (const ready of harness.activePods)
      await harness.changePod(ready, (pod) => (pod.status = { phase: 'Running', conditions }));
    await harness.settle();
    expect(harness.replicaSet.status?.conditions).toBeUndefined();
  });

  it('are held back longer each time, also if the dead pods leave and another process decides [kubernetes#131116]', async () => {
    const harness = new ReplicaSetHarness(1, { processes: 2 });
    await harness.settle();
    const waits: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      const uid = harness.activePods[0]?.metadata.uid;
      await evictAtOnce(harness);
      waits.push((await harness.activate(undefined, round % 2)).result?.requeueAfterMs);
      for (const { metadata } of harness.cluster.all<Pod>(Pod))
        if (metadata.uid === uid) harness.cluster.vanish(Pod, `default/${metadata.name}`);
      harness.catchUp();
      const wait = (await harness.activate(undefined, (round + 1) % 2)).result?.requeueAfterMs;
      expect(harness.activePods).toHaveLength(0);
      await harness.clock.advance(wait!);
      harness.catchUp();
      await harness.activate(undefined, round % 2);
      harness.catchUp();
      expect(harness.activePods).toHaveLength(1);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000]);
  });
});

it('a ReplicaSet that is scaled to nothing forgets that its pods died', async () => {
  const harness = new ReplicaSetHarness(1);
  await harness.settle();
  await evictAtOnce(harness);
  await harness.activate();
  expect(harness.storedIntents).toMatchObject({ failures: { rounds: 1 } });
  await harness.scale(0);
  harness.catchUp();
  await harness.activate();
  expect(harness.storedIntents).toBeUndefined();
});

describe('failed pods', () => {
  const aFailedPod = (harness: ReplicaSetHarness, name: string, secondsAgo: number): Pod => {
    const createdAt = toRfc3339(harness.clock.now() - secondsAgo * 1000);
    const pod = aPod({ name, phase: 'Failed', reason: 'Evicted', createdAt });
    const [owner] = harness.activePods;
    pod.metadata.ownerReferences = owner!.metadata.ownerReferences;
    return harness.cluster.seed(Pod, pod);
  };
  const failedNames = ({ cluster }: ReplicaSetHarness): string[] =>
    cluster
      .all<Pod>(Pod)
      .filter(({ status }) => status?.phase === 'Failed')
      .map(({ metadata }) => metadata.name)
      .sort();

  it('stay as in Kubernetes, unless the annotation limits them [kubernetes#91672, #54525]', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    await harness.makeAllReady();
    for (let index = 1; index <= 5; index++) aFailedPod(harness, `f${index}`, 10_000 - index);
    await harness.settle();
    expect(failedNames(harness)).toHaveLength(5);
    await harness.scale(1, { 'rollkeeper.dev/failed-pods': 'keep 2' });
    await harness.settle();
    expect(failedNames(harness)).toEqual(['f4', 'f5']);
    expect(harness.activePods).toHaveLength(1);
    expect(harness.storedIntents).toBeUndefined();
  });

  it('go when they become too old: the sync asks to be called then [kubernetes#86023]', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    await harness.makeAllReady();
    aFailedPod(harness, 'old', 3000);
    await harness.scale(1, { 'rollkeeper.dev/failed-pods': 'keep 3, 1h' });
    harness.catchUp();
    expect((await harness.activate()).result).toEqual({ requeueAfterMs: 600_000 });
    expect(harness.needsSync).toBe(true);
    await harness.clock.advance(600_000);
    harness.catchUp();
    await harness.activate();
    expect(failedNames(harness)).toEqual([]);
  });

  it('are remembered if they leave before the series is over, so that creations stay held back', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    await harness.scale(1, { 'rollkeeper.dev/failed-pods': 'keep 0' });
    const waits: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      await reject(harness);
      const wait = (await harness.activate()).result?.requeueAfterMs;
      waits.push(wait);
      expect(failedNames(harness)).toEqual([]);
      await harness.clock.advance(wait!);
      harness.catchUp();
      await harness.activate();
      harness.catchUp();
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000]);
  });
});

async function reject(harness: ReplicaSetHarness): Promise<void> {
  for (const rejected of harness.activePods)
    await harness.changePod(rejected, (pod) => (pod.status = { phase: 'Failed', reason: 'OutOfcpu' }));
  harness.catchUp();
}

/** As the controller of taints does with a pod that names a node whose taints it does not tolerate. */
async function evictAtOnce(harness: ReplicaSetHarness): Promise<void> {
  const now = toRfc3339(harness.clock.now());
  const reason = 'DeletionByTaintManager';
  const conditions = [{ type: 'DisruptionTarget', status: 'True' as const, reason, lastTransitionTime: now }];
  for (const evicted of harness.activePods) {
    await harness.changePod(evicted, (pod) => {
      pod.status = { phase: 'Pending', conditions };
      pod.spec.nodeName = 'node-1';
    });
    await harness.cluster.delete(Pod, evicted.metadata);
  }
  harness.catchUp();
}

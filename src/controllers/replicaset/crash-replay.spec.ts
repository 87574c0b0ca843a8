import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom, toRfc3339 } from '../../machinery/clock/index.js';
import { Pod, keyOf } from '../../machinery/kubernetes/index.js';
import { aPod } from '../../testing/pod-builder.js';
import type { Fault } from '../../testing/replicaset-harness.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { ReplicaSetHarness } from '../../testing/replicaset-harness.js';
import type { PodIntents } from './pod-intents.js';

const FAULTS: readonly Fault[] = ['killed-before', 'killed-after', 'answer-lost', 'never-arrived', 'refused'];

describe('a sync that is broken between any two effects', () => {
  it.each(FAULTS)('leaves, when growing, exactly the wanted pods to the next one: %s', async (fault) => {
    const { effects } = await new ReplicaSetHarness(7).activate();
    expect(effects).toBe(1 + 7);
    for (let effect = 0; effect < effects; effect++) {
      for (const freshCache of [true, false]) {
        const harness = new ReplicaSetHarness(7);
        await harness.activate({ effect, fault });
        if (freshCache) harness.catchUp();
        await harness.activate();
        expect(harness.activePods.length, `broken at effect ${effect}`).toBe(7);
        await harness.settle();
        expect(harness.activePods).toHaveLength(7);
        expect(harness.storedIntents).toBeUndefined();
      }
    }
  });

  it.each(FAULTS)('leaves, when shrinking, exactly the wanted pods to the next one: %s', async (fault) => {
    for (let effect = 0; effect < 1 + 4; effect++) {
      for (const freshCache of [true, false]) {
        const harness = new ReplicaSetHarness(6);
        await harness.settle();
        await harness.scale(2);
        harness.catchUp();
        await harness.activate({ effect, fault });
        if (freshCache) harness.catchUp();
        await harness.activate();
        expect(harness.activePods.length, `broken at effect ${effect}`).toBe(2);
        await harness.settle();
        expect(harness.activePods).toHaveLength(2);
        expect(harness.storedIntents).toBeUndefined();
      }
    }
  });

  it.each(FAULTS)('does not overshoot when fewer pods are wanted by then: %s', async (fault) => {
    for (let effect = 0; effect < 1 + 7; effect++) {
      for (const wanted of [0, 3, 6, 7, 9]) {
        const harness = new ReplicaSetHarness(7);
        await harness.activate({ effect, fault });
        await harness.scale(wanted);
        harness.replicaSets.catchUp();
        await harness.activate();
        expect(harness.activePods.length, `broken at effect ${effect}, then ${wanted} wanted`).toBe(wanted);
        await harness.settle();
        expect(harness.activePods).toHaveLength(wanted);
      }
    }
  });

  it.each(FAULTS)('spares what was to be deleted and is wanted again: %s', async (fault) => {
    for (let effect = 0; effect < 1 + 4; effect++) {
      const harness = new ReplicaSetHarness(6);
      await harness.settle();
      await harness.scale(2);
      harness.catchUp();
      await harness.activate({ effect, fault });
      const survivors = harness.activePods.length;
      await harness.scale(6);
      harness.replicaSets.catchUp();
      harness.cluster.requests.length = 0;
      await harness.settle();
      expect(harness.activePods).toHaveLength(6);
      expect(harness.cluster.count('create', Pod)).toBe(6 - survivors);
      expect(harness.storedIntents).toBeUndefined();
    }
  });
});

/** Syncs as the pods' events would: only where one is needed. */
async function syncIfNeeded(harness: ReplicaSetHarness): Promise<void> {
  harness.catchUp();
  if (harness.needsSync) await harness.activate();
}

describe('a creation that was answered', () => {
  it('is settled by its own write: no intent is left, and the next sync must have seen the pods', async () => {
    const harness = new ReplicaSetHarness(3);
    await harness.activate();
    expect(harness.storedIntents).toBeUndefined();
    await harness.activate();
    expect(harness.activePods).toHaveLength(3);
  });

  it('is not repeated after its pod was deleted, although the status stays equal', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    const names = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const [pod] = harness.activePods;
      names.add(pod!.metadata.name);
      await harness.cluster.delete(Pod, pod!.metadata);
      await syncIfNeeded(harness);
      await syncIfNeeded(harness);
      expect(harness.storedIntents).toBeUndefined();
    }
    expect(names.size).toBe(3);
  });

  it.each(['exists', 'was deleted since'])(
    'is looked up where the answer was lost, and not repeated past the backoff: its pod %s',
    async (what) => {
      const harness = new ReplicaSetHarness(1, { options: { rejectionBackoffBaseMs: 60_000 } });
      await harness.activate({ effect: 1, fault: 'answer-lost' });
      const [pod] = harness.activePods;
      if (what === 'was deleted since') {
        harness.cluster.seed(Pod, rejected(harness, 'rejected'));
        await harness.cluster.delete(Pod, pod!.metadata);
        harness.catchUp();
      }
      harness.cluster.requests.length = 0;
      await harness.activate();
      expect(harness.cluster.count('create', Pod)).toBe(0);
      expect((harness.storedIntents as PodIntents | undefined)?.creates ?? []).toEqual([]);
    },
  );
});

/** A pod of the ReplicaSet that its node has rejected just now. */
function rejected({ clock, replicaSet }: ReplicaSetHarness, name: string): Pod {
  const pod = aPod({ name, ownerUid: replicaSet.metadata.uid ?? '' });
  pod.metadata.creationTimestamp = toRfc3339(clock.now());
  pod.status = { phase: 'Failed', reason: 'OutOfcpu' };
  return pod;
}

describe('a deletion that no change of the status follows', () => {
  it('touches no other pod of that name, however much later the next sync is', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    harness.cluster.seed(Pod, aPod({ name: 'one-too-many' }));
    harness.catchUp();
    await harness.activate();
    harness.catchUp();
    const { deletes } = harness.storedIntents as PodIntents;
    expect({ needsSync: harness.needsSync, deletes }).toMatchObject({ needsSync: false, deletes: [{}] });
    const survivor = harness.activePods[0]!;
    for (const { name } of deletes)
      harness.cluster.seed(Pod, aPod({ name, uid: 'another', ownerUid: harness.replicaSet.metadata.uid }));
    await harness.cluster.delete(Pod, survivor.metadata);
    harness.catchUp();
    await harness.activate();
    expect(harness.activePods.map(({ metadata }) => metadata.uid)).toEqual(['another']);
    expect(harness.storedIntents).toBeUndefined();
  });
});

describe('a process whose cache is behind', () => {
  it('makes no pod that another has found made', async () => {
    const harness = new ReplicaSetHarness(1, { processes: 3 });
    await harness.activate({ effect: 1, fault: 'killed-after' }, 0);
    harness.cachesOf(1).pods.catchUp();
    await harness.activate(undefined, 1);
    expect(harness.storedIntents).toBeUndefined();
    await harness.activate(undefined, 2);
    expect(harness.activePods).toHaveLength(1);
  });

  it('makes none either where others have been stored since', async () => {
    const harness = new ReplicaSetHarness(1, { processes: 3 });
    await harness.activate({ effect: 1, fault: 'answer-lost' }, 0);
    await harness.scale(2);
    for (const index of [1, 2]) harness.cachesOf(index).replicaSets.catchUp();
    harness.cachesOf(1).pods.catchUp();
    await harness.activate({ effect: 1, fault: 'killed-before' }, 1);
    await harness.activate(undefined, 2);
    expect(harness.activePods).toHaveLength(2);
  });

  it('deletes no other pod in place of one that another has found gone', async () => {
    const harness = new ReplicaSetHarness(2, { processes: 3 });
    await harness.settle();
    const [spared, doomed] = harness.activePods;
    await harness.changePod(doomed!, (pod) => setReady(pod, true));
    harness.catchUp();
    await harness.changePod(doomed!, (pod) => setReady(pod, false));
    await harness.changePod(spared!, (pod) => setReady(pod, true));
    await harness.scale(1);
    for (const index of [0, 1, 2]) harness.cachesOf(index).replicaSets.catchUp();
    harness.cachesOf(0).pods.catchUp();
    await harness.activate({ effect: 1, fault: 'killed-after' }, 0);
    harness.cachesOf(1).pods.catchUp();
    await harness.activate(undefined, 1);
    expect(harness.storedIntents).toBeUndefined();
    await harness.activate(undefined, 2);
    expect(harness.activePods.map(({ metadata }) => metadata.name)).toEqual([spared!.metadata.name]);
  });
});

function setReady(pod: Pod, isReady: boolean): void {
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False' } as const;
  pod.status = { phase: 'Running', conditions: [ready] };
}

/**
 * Invariants for any faults and cache delays:
 * 1. there are never more pods than the maximum wanted since the last rest;
 * 2. unless others delete pods, there are never fewer than the minimum wanted since then;
 * 3. once there are no more faults, there are as many as wanted within a few syncs, and no intents stay stored;
 * 4. a sync that ends without an error leaves no creation behind;
 * 5. no pod comes back under the name of a deleted one, unless its creation was never answered.
 */
describe('under random faults, stale caches and changes of mind', () => {
  it.each([
    { processes: 1, ...propertyRuns({ gate: 15, nightly: 500 }) },
    { processes: 3, ...propertyRuns({ gate: 40, nightly: 2000 }) },
  ])(
    'pods stay within what was asked for, and converge, by $processes processes',
    async ({ numRuns, processes, seed }) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), async (runSeed) => runRandomly(runSeed, processes)),
        { seed, numRuns },
      );
    },
  );
});

async function runRandomly(seed: number, processes: number): Promise<void> {
  const random = new SeededRandom(seed);
  const below = (limit: number): number => Math.floor(random.next() * limit);
  const harness = new ReplicaSetHarness(below(8), { seed, processes });
  let limits = { most: harness.replicaSet.spec.replicas ?? 0, least: 0 };
  const violations: string[] = [];
  harness.cluster.onEvent(() => {
    const pods = harness.activePods.length;
    if (pods > limits.most || pods < limits.least) {
      violations.push(`${pods} pods, allowed ${limits.least} to ${limits.most}`);
    }
  });
  const gone = new Set<string>();
  harness.cluster.onEvent((_type, { object, type }) => {
    const { name } = object.metadata;
    if (type === 'ADDED' && gone.has(name)) violations.push(`${name} is back`);
  });
  const openCreates = (): readonly string[] =>
    (harness.storedIntents as PodIntents | undefined)?.creates ?? [];
  for (let step = 0; step < 40; step++) {
    expect(violations, `seed ${seed}, step ${step}`).toEqual([]);
    const dice = below(10);
    if (dice < 5) {
      const fault = FAULTS[below(FAULTS.length)]!;
      const faultAt = below(2) === 0 ? undefined : { effect: below(8), fault };
      const { error } = await harness.activate(faultAt, below(processes));
      if (error === undefined && openCreates().length > 0) violations.push(`left ${openCreates().join()}`);
    } else if (dice < 7) {
      const { pods, replicaSets } = harness.cachesOf(below(processes));
      const isAll = below(2) === 0;
      pods.catchUp(isAll ? pods.lag : below(pods.lag + 1));
      replicaSets.catchUp(isAll ? replicaSets.lag : below(replicaSets.lag + 1));
    } else if (dice === 7) {
      const replicas = below(8);
      limits = { most: Math.max(limits.most, replicas), least: Math.min(limits.least, replicas) };
      await harness.scale(replicas);
      // The leader's record of the change makes the next activation wait for it, on any replica.
      for (let index = 0; index < processes; index++) harness.cachesOf(index).replicaSets.catchUp();
    } else if (dice === 8) {
      const pod = harness.activePods[below(harness.activePods.length)];
      if (pod && below(2) === 0) {
        limits = { ...limits, least: 0 };
        if (!openCreates().includes(pod.metadata.name)) gone.add(pod.metadata.name);
        await harness.cluster.delete(Pod, pod.metadata);
      } else if (pod) {
        // Changes which pods are deleted first.
        await harness.changePod(pod, (changed) => setReady(changed, below(2) === 0));
      }
    } else {
      await harness.settle();
      const replicas = harness.replicaSet.spec.replicas ?? 0;
      expect(harness.activePods.length, `seed ${seed}`).toBe(replicas);
      expect(harness.storedIntents).toBeUndefined();
      limits = { most: replicas, least: replicas };
    }
  }
  await harness.settle();
  expect(harness.activePods.length, `seed ${seed}`).toBe(harness.replicaSet.spec.replicas);
  expect(new Set(harness.activePods.map((pod) => keyOf(pod.metadata))).size).toBe(harness.activePods.length);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../base/clock/index.js';
import { PODS, keyOf } from '../../base/kubernetes/index.js';
import type { Fault } from '../../testing/replicaset-harness.js';
import { ReplicaSetHarness } from '../../testing/replicaset-harness.js';

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
      expect(harness.cluster.count('create', PODS)).toBe(6 - survivors);
      expect(harness.storedIntents).toBeUndefined();
    }
  });
});

/**
 * Invariants, whatever breaks and however late the caches are:
 * 1. there are never more pods than the most that was wanted since the last rest;
 * 2. unless somebody else deletes pods, never fewer than the least that was wanted since then;
 * 3. once nothing breaks any more, as many as wanted, within a few syncs, and nothing stays stored.
 */
describe('under random faults, stale caches and changes of mind', () => {
  it('pods stay within what was asked for, and converge', async () => {
    const seed = Number(process.env['SEED'] ?? 20261121);
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (runSeed) => runRandomly(runSeed)),
      { seed, numRuns: Number(process.env['RUNS'] ?? 150) },
    );
  });
});

async function runRandomly(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const below = (limit: number): number => Math.floor(random.next() * limit);
  const harness = new ReplicaSetHarness(below(8), { seed });
  let limits = { most: harness.replicaSet.spec.replicas ?? 0, least: 0 };
  const violations: string[] = [];
  harness.cluster.onEvent(() => {
    const pods = harness.activePods.length;
    if (pods > limits.most || pods < limits.least) {
      violations.push(`${pods} pods, allowed ${limits.least} to ${limits.most}`);
    }
  });
  for (let step = 0; step < 40; step++) {
    expect(violations, `seed ${seed}, step ${step}`).toEqual([]);
    const dice = below(10);
    if (dice < 5) {
      const fault = FAULTS[below(FAULTS.length)]!;
      await harness.activate(below(2) === 0 ? undefined : { effect: below(8), fault });
    } else if (dice < 7) {
      harness.pods.catchUp(below(harness.pods.lag + 1));
      harness.replicaSets.catchUp(below(harness.replicaSets.lag + 1));
    } else if (dice === 7) {
      const replicas = below(8);
      limits = { most: Math.max(limits.most, replicas), least: Math.min(limits.least, replicas) };
      await harness.scale(replicas);
      // The leader's record of the change makes the next activation wait for it.
      harness.replicaSets.catchUp();
    } else if (dice === 8) {
      const victim = harness.activePods[below(harness.activePods.length)];
      limits = { ...limits, least: 0 };
      if (victim) await harness.cluster.delete(PODS, victim.metadata);
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

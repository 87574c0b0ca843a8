import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyPod } from '../shared/index.js';
import type { Pod } from '../../machinery/kubernetes/index.js';
import type { PodTraits } from '../../testing/pod-builder.js';
import { aPod } from '../../testing/pod-builder.js';
import type { FailureSeries } from './failure-series.js';
import { creationsHeldMs, decideFailureSeries, parseFailureSeries, seriesToStore } from './failure-series.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const at = (sinceMs: number): string => new Date(nowMs + sinceMs).toISOString();
const secondsAgo = (seconds: number): string => at(-seconds * 1000);
const rejected = (seconds: number, traits: PodTraits = {}): Pod =>
  aPod({
    name: `r${seconds}`,
    phase: 'Failed',
    reason: 'OutOfcpu',
    createdAt: secondsAgo(seconds),
    ...traits,
  });
const options = { failureBackoff: true, rejectionBackoffBaseMs: 1000, rejectionBackoffMaxMs: 60_000 };
const decideAt = (pods: readonly Pod[], sinceMs: number, stored?: FailureSeries) =>
  decideFailureSeries({ pods, stored, nowMs: nowMs + sinceMs, options });
const decide = (pods: readonly Pod[], stored?: FailureSeries) => decideAt(pods, 0, stored);
const heldMs = (pods: readonly Pod[], missing = 1) => creationsHeldMs(decide(pods), missing, nowMs);
/** A pod that a component removes, and that has never been ready. */
const disrupted = (seconds: number): Pod => {
  const pod = aPod({ name: `d${seconds}`, createdAt: secondsAgo(seconds), deletedAt: secondsAgo(seconds) });
  const since = { lastTransitionTime: secondsAgo(seconds) };
  const reason = 'DeletionByTaintManager';
  pod.status = {
    phase: 'Pending',
    conditions: [{ type: 'DisruptionTarget', status: 'True', reason, ...since }],
  };
  return pod;
};

const seed = Number(process.env.SEED ?? randomInt(2 ** 31 - 1));

describe(`decideFailureSeries (SEED=${seed})`, () => {
  it('waits longer with each round of pods that died, counted from the newest death', () => {
    expect(decide([rejected(0)])).toMatchObject({ delayMs: 1000, rounds: 1, pods: 1 });
    expect(heldMs([rejected(0)])).toBe(1000);
    const four = [rejected(9), rejected(5), rejected(2), rejected(1)];
    expect(decide(four)).toMatchObject({ delayMs: 8000, rounds: 4, reason: 'OutOfcpu' });
    expect(heldMs(four)).toBe(7000);
  });

  it('never waits longer than the maximum', () => {
    const many = Array.from({ length: 200 }, (_, index) => rejected(index));
    expect(decide(many)).toMatchObject({ delayMs: 60_000, pods: 200 });
  });

  it('counts pods that died together as one round, however few of them are missing now', () => {
    const ten = Array.from({ length: 10 }, () => rejected(0));
    expect(decide(ten)).toMatchObject({ delayMs: 1000, rounds: 1, pods: 10 });
  });

  it('counts a pod that lived for a while from its death', () => {
    const pod = rejected(40, { reason: 'Evicted' });
    pod.status!.conditions = [
      { type: 'DisruptionTarget', status: 'True', lastTransitionTime: secondsAgo(0) },
    ];
    expect(heldMs([pod])).toBe(1000);
    const ended = { exitCode: 1, finishedAt: secondsAgo(0.5) };
    const exited = rejected(40);
    exited.status!.containerStatuses = [
      { name: 'web', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated: ended } },
    ];
    expect(heldMs([exited])).toBe(500);
  });

  it('does not hold creations back once the time has passed, and when nothing is missing', () => {
    expect(heldMs([rejected(1)])).toBeUndefined();
    expect(heldMs([rejected(0)], 0)).toBeUndefined();
  });

  it('ends with a newer pod that becomes ready, and not with one that only runs', () => {
    const ready = aPod({ createdAt: secondsAgo(0.1), readySince: secondsAgo(0) });
    expect(decide([rejected(0.5), ready])).toBeUndefined();
    expect(decide([rejected(0.5), aPod({ createdAt: secondsAgo(0.1) })])).toBeDefined();
  });

  it.each([
    'OutOfmemory',
    'OutOfexample.com/gpu',
    'AppArmor',
    'Evicted',
    'NodeAffinity',
    'NodeLost',
    'NodePorts',
    'PodOSSelectorNodeLabelDoesNotMatch',
    'Preempting',
    'SysctlForbidden',
    'TaintToleration',
    'Terminated',
    'UnexpectedAdmissionError',
    'VolumeAttachmentLimitExceeded',
  ])('holds creations back for %s, and people are told the same', (reason) => {
    expect(heldMs([rejected(0, { reason })])).toBe(1000);
    expect(classifyPod(rejected(0, { reason }), 0, nowMs)).toMatchObject({ state: 'rejected', reason });
  });

  it('holds creations back for pods that failed by themselves before they were ready', () => {
    expect(decide([rejected(0, { reason: 'DeadlineExceeded' })])).toMatchObject({
      reason: 'DeadlineExceeded',
    });
    expect(decide([rejected(0, { reason: '' })])).toMatchObject({ reason: 'Failed' });
  });

  it('leaves pods alone that were ready before they failed', () => {
    const pod = rejected(60, { reason: 'Evicted' });
    pod.status!.startTime = secondsAgo(60);
    pod.status!.conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: secondsAgo(1) }];
    expect(decide([pod])).toBeUndefined();
    expect(decide([rejected(61), pod])).toBeUndefined();
  });

  it('counts pods that a component removes before they are ready, and none that a person deletes', () => {
    expect(decide([disrupted(0)])).toMatchObject({ delayMs: 1000, reason: 'DeletionByTaintManager' });
    const deleted = aPod({ createdAt: secondsAgo(1), deletedAt: secondsAgo(0) });
    expect(decide([deleted])).toBeUndefined();
  });

  /*
   * For any number of missing pods, if each round of them dies at once and the next comes after the delay:
   *
   * 1. A delay is never shorter than the previous one, never longer than the maximum, and reaches the maximum.
   * 2. So the number of pods created in any time is bounded by a few rounds and one per maximum delay.
   * 3. One ready pod ends it: the next death starts with the base delay again.
   * 4. That holds as well if the dead pods leave the API each time, seen or unseen after the first, and another process
   *    decides from what was stored.
   */
  it.each(['stay', 'leave', 'leave unseen'])(
    'bounds how many pods are made that die at once, and %s',
    (fate) => {
      const hours = fc.integer({ min: 1, max: 2 });
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 5 }), hours, (missing, forHours) => {
          const pods: Pod[] = [];
          const waits: number[] = [];
          let stored: FailureSeries | undefined;
          let sinceMs = 0;
          const store = (creates: number): void => {
            const toStore = { creates, isHeld: creates === 0, nowMs: nowMs + sinceMs, options, stored };
            const series = seriesToStore(decideAt(pods, sinceMs, stored), toStore);
            stored = parseFailureSeries(JSON.parse(JSON.stringify(series ?? null)));
          };
          while (sinceMs < forHours * 3_600_000) {
            if (waits.length === 0 || fate !== 'leave unseen')
              for (let index = 0; index < missing; index++)
                pods.push(rejected(0, { name: `r${pods.length}`, createdAt: at(sinceMs) }));
            store(0);
            if (fate !== 'stay') pods.length = 0;
            const held = creationsHeldMs(decideAt(pods, sinceMs, stored), missing, nowMs + sinceMs);
            waits.push(held ?? 0);
            sinceMs += held ?? 0;
            store(missing);
          }
          expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
          expect(waits.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
          expect(waits.at(-1)).toBe(60_000);
          expect(waits.length).toBeLessThanOrEqual(7 + forHours * 60);
          pods.push(aPod({ name: 'runs', createdAt: at(sinceMs), readySince: at(sinceMs) }));
          expect(decideAt(pods, sinceMs, stored)).toBeUndefined();
          pods.push(rejected(0, { name: 'again', createdAt: at(sinceMs + 1000) }));
          expect(decideAt(pods, sinceMs + 1000, stored)).toMatchObject({ delayMs: 1000, rounds: 1 });
        }),
        { numRuns: 10, seed },
      );
    },
  );
});

describe('a stored series', () => {
  const stored: FailureSeries = {
    ...{ rounds: 5, pods: 9, reason: 'TaintToleration', createdMs: nowMs - 1000 },
    ...{ delayMs: 16_000, untilMs: nowMs + 15_000 },
  };

  it('holds creations back although its pods are gone', () => {
    expect(creationsHeldMs(decide([], stored), 1, nowMs)).toBe(15_000);
  });

  it('goes on with the next pod that dies after the delay', () => {
    const next = rejected(0, { createdAt: at(15_500) });
    expect(decideAt([next], 16_000, stored)).toMatchObject({ rounds: 6, pods: 10, delayMs: 32_000 });
  });

  it('does not count as another round what dies while creations are held back', () => {
    expect(decide([rejected(0)], stored)).toMatchObject({ rounds: 5, pods: 10, delayMs: 16_000 });
  });

  it('is forgotten long after its last death', () => {
    expect(decideAt([], 15_000 + 2 * 60_000, stored)).toEqual(stored);
    expect(decideAt([], 15_001 + 2 * 60_000, stored)).toBeUndefined();
  });

  it.each([undefined, null, 'x', {}, { ...stored, rounds: 'many' }, { ...stored, reason: 5 }])(
    'counts as none if it cannot be read: %j',
    (value) => {
      expect(parseFailureSeries(value)).toBeUndefined();
    },
  );

  it('is needed while creations are held back, and begins the next round with the pods that are created', () => {
    const series = decide([rejected(0)]);
    const toStore = { creates: 0, isHeld: false, nowMs, options };
    expect(seriesToStore(undefined, toStore)).toBeUndefined();
    expect(seriesToStore(series, toStore)).toBeUndefined();
    expect(seriesToStore(series, { ...toStore, isHeld: true })).toBe(series);
    expect(seriesToStore(series, { ...toStore, stored })).toBe(series);
    const armed = seriesToStore(series, { ...toStore, creates: 1 });
    expect(armed).toMatchObject({ rounds: 2, delayMs: 2000, untilMs: nowMs + 2000 });
    expect(decideAt([rejected(0, { createdAt: at(1500) })], 1500, armed)).toMatchObject({
      rounds: 2,
      pods: 2,
    });
  });
});

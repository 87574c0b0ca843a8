import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyPod } from '../shared/index.js';
import type { PodTraits } from '../../testing/pod-builder.js';
import { aPod } from '../../testing/pod-builder.js';
import { decideRejectionBackoff } from './rejection-backoff.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const secondsAgo = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString();
const rejected = (seconds: number, traits: PodTraits = {}) =>
  aPod({
    name: `r${seconds}`,
    phase: 'Failed',
    reason: 'OutOfcpu',
    createdAt: secondsAgo(seconds),
    ...traits,
  });
const options = { rejectionBackoffBaseMs: 1000, rejectionBackoffMaxMs: 60_000 };
const at = (sinceMs: number): string => new Date(nowMs + sinceMs).toISOString();
const decideAt = (pods: ReturnType<typeof aPod>[], missing: number, sinceMs: number) =>
  decideRejectionBackoff({ pods, missing, nowMs: nowMs + sinceMs, options });
const decide = (pods: ReturnType<typeof aPod>[], missing = 1) => decideAt(pods, missing, 0);

const seed = Number(process.env.SEED ?? randomInt(2 ** 31 - 1));

describe(`decideRejectionBackoff (SEED=${seed})`, () => {
  it('waits longer with each rejection, counted from the newest', () => {
    expect(decide([rejected(0)])).toMatchObject({ delayMs: 1000, remainingMs: 1000, rejections: 1 });
    expect(decide([rejected(9), rejected(5), rejected(2), rejected(1)])).toMatchObject({
      delayMs: 8000,
      remainingMs: 7000,
      reason: 'OutOfcpu',
    });
  });

  it('never waits longer than the maximum', () => {
    const many = Array.from({ length: 200 }, (_, index) => rejected(index));
    expect(decide(many)).toMatchObject({ delayMs: 60_000, rejections: 200 });
  });

  it('counts pods that were rejected together as one round', () => {
    const ten = Array.from({ length: 10 }, () => rejected(0));
    expect(decide(ten, 10)).toMatchObject({ delayMs: 1000 });
  });

  it('is over when the time has passed, when nothing is missing, and when a newer pod came to run', () => {
    expect(decide([rejected(1)])).toBeUndefined();
    expect(decide([rejected(0)], 0)).toBeUndefined();
    expect(decide([rejected(0.5), aPod({ createdAt: secondsAgo(0.1) })])).toBeUndefined();
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
    expect(decide([rejected(0, { reason })])).toBeDefined();
    expect(classifyPod(rejected(0, { reason }), 0, nowMs)).toMatchObject({ state: 'rejected', reason });
  });

  it('leaves pods alone that failed by themselves', () => {
    expect(
      decide([rejected(0, { reason: 'DeadlineExceeded' }), rejected(0, { reason: '' })]),
    ).toBeUndefined();
    expect(classifyPod(rejected(0, { reason: 'DeadlineExceeded' }), 0, nowMs).state).toBe('finished');
  });

  /*
   * For any number of missing pods, if each round of them is rejected at once and the next comes after the delay:
   *
   * 1. A delay is never shorter than the previous one, never longer than the maximum, and reaches the maximum.
   * 2. So the number of pods created in any time is bounded by a few rounds and one per maximum delay.
   * 3. One running pod ends it: the next rejection starts with the base delay again.
   */
  it('bounds how many pods are made for a node that rejects them all', () => {
    const hours = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), hours, (missing, forHours) => {
        const pods: ReturnType<typeof aPod>[] = [];
        const waits: number[] = [];
        let sinceMs = 0;
        while (sinceMs < forHours * 3_600_000) {
          for (let index = 0; index < missing; index++)
            pods.push(rejected(0, { name: `r${pods.length}`, createdAt: at(sinceMs) }));
          const wait = decideAt(pods, missing, sinceMs)?.remainingMs ?? 0;
          waits.push(wait);
          sinceMs += wait;
        }
        expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
        expect(waits.at(-1)).toBe(60_000);
        expect(waits.length).toBeLessThanOrEqual(7 + forHours * 60);
        pods.push(aPod({ name: 'runs', createdAt: at(sinceMs) }));
        expect(decideAt(pods, missing, sinceMs)).toBeUndefined();
        pods.push(rejected(0, { name: 'again', createdAt: at(sinceMs + 1000) }));
        expect(decideAt(pods, missing, sinceMs + 1000)).toMatchObject({ delayMs: 1000, rejections: 1 });
      }),
      { numRuns: 30, seed },
    );
  });
});

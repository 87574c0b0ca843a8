import { describe, expect, it } from 'vitest';
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
const decide = (pods: ReturnType<typeof aPod>[], missing = 1) =>
  decideRejectionBackoff({
    pods,
    missing,
    nowMs,
    options: { rejectionBackoffBaseMs: 1000, rejectionBackoffMaxMs: 60_000 },
  });

describe('decideRejectionBackoff', () => {
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

  it.each(['OutOfmemory', 'NodeAffinity', 'UnexpectedAdmissionError', 'Evicted'])('knows %s', (reason) => {
    expect(decide([rejected(0, { reason })])).toBeDefined();
  });

  it('leaves pods alone that failed by themselves', () => {
    expect(
      decide([rejected(0, { reason: 'DeadlineExceeded' }), rejected(0, { reason: '' })]),
    ).toBeUndefined();
  });
});

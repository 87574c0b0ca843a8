import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import { aPod } from '../../../testing/pod-builder.js';
import { decideFailedPods, parseFailedPods, renderFailedPods } from './failed-pods.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const failed = (minutes: number, deletedAt?: string): Pod =>
  aPod({
    name: `f${minutes}`,
    phase: 'Failed',
    reason: 'Evicted',
    createdAt: new Date(nowMs - minutes * 60_000).toISOString(),
    deletedAt,
  });
const goers = (pods: readonly Pod[], rule: string): string[] =>
  decideFailedPods(pods, parseFailedPods(rule), nowMs).excess.map(({ metadata }) => metadata.name);

describe('failed pods of a ReplicaSet', () => {
  it('stay without a rule', () => {
    expect(decideFailedPods([failed(1), failed(500)], undefined, nowMs)).toEqual({ excess: [] });
  });

  it('stay if they are the newest, and those before them go', () => {
    expect(goers([failed(5), failed(1), failed(4), failed(2), failed(3)], 'keep 3')).toEqual(['f4', 'f5']);
    expect(goers([failed(1)], 'keep 0')).toEqual(['f1']);
  });

  it('go once they are too old, even if they are the newest', () => {
    const pods = [failed(59), failed(60), failed(90)];
    expect(goers(pods, 'keep 3, 1h')).toEqual(['f60', 'f90']);
    expect(decideFailedPods(pods, parseFailedPods('keep 3, 1h'), nowMs).nextInMs).toBe(60_000);
    expect(decideFailedPods(pods, parseFailedPods('keep 3'), nowMs).nextInMs).toBeUndefined();
  });

  it('neither count nor go while they are being deleted, and pods in other phases never do', () => {
    const others = [aPod({ name: 'runs' }), aPod({ name: 'done', phase: 'Succeeded' })];
    const leaving = failed(1, new Date(nowMs).toISOString());
    expect(goers([leaving, failed(2), failed(3), ...others], 'keep 1')).toEqual(['f3']);
  });
});

it.each(['keep 3', 'keep 0', 'keep 3, 1h', 'keep 12, 1h30m', 'keep 1, 2d'])(
  '%j is read as written',
  (text) => {
    const rule = parseFailedPods(text);
    expect(rule && renderFailedPods(rule)).toBe(text);
  },
);

it.each(['', '3', 'keep', 'keep 99999', 'keep 3,, 1h', 'keep 3, 1', 'keep 3, x', ' keep 3'])(
  '%j is no rule',
  (text) => {
    expect(parseFailedPods(text)).toBeUndefined();
  },
);

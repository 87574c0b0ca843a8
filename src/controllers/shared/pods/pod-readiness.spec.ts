import { isPodActive, isPodReady, isPodTerminating } from '../../../machinery/kubernetes/index.js';
import { describe, expect, it } from 'vitest';
import { aPod } from '../../../testing/pod-builder.js';
import { isPodAvailable, msUntilPodAvailable } from './pod-readiness.js';

const nowMs = Date.parse('2026-01-01T00:01:00Z');
const ready = aPod({ readySince: '2026-01-01T00:00:40Z' });

describe('pod readiness', () => {
  it('a pod counts until it has ended or is being deleted', () => {
    expect(isPodActive(aPod())).toBe(true);
    expect(isPodActive(aPod({ phase: 'Failed' }))).toBe(false);
    expect(isPodActive(aPod({ phase: 'Succeeded' }))).toBe(false);
    expect(isPodActive(aPod({ deletedAt: '2026-01-01T00:00:00Z' }))).toBe(false);
    expect(isPodTerminating(aPod({ deletedAt: '2026-01-01T00:00:00Z' }))).toBe(true);
    expect(isPodTerminating(aPod({ deletedAt: '2026-01-01T00:00:00Z', phase: 'Failed' }))).toBe(false);
  });

  it('a pod is available once it has been ready for long enough, to the millisecond', () => {
    expect(isPodReady(ready)).toBe(true);
    expect(isPodAvailable(ready, 0, nowMs)).toBe(true);
    expect(msUntilPodAvailable(ready, 30, nowMs)).toBe(10_000);
    expect(isPodAvailable(ready, 30, nowMs + 9_999)).toBe(false);
    expect(isPodAvailable(ready, 30, nowMs + 10_000)).toBe(true);
  });

  it('a clock that is behind makes nobody wait longer than minReadySeconds', () => {
    expect(msUntilPodAvailable(ready, 30, nowMs - 3_600_000)).toBe(30_000);
  });

  it('a pod that is not ready will not become available by waiting', () => {
    expect(msUntilPodAvailable(aPod(), 30, nowMs)).toBeUndefined();
    expect(isPodAvailable(aPod(), 0, nowMs)).toBe(false);
  });
});

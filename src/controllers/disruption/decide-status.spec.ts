import { describe, expect, it } from 'vitest';
import { aPod } from '../../testing/pod-builder.js';
import type { PodDisruptionBudget } from '../../machinery/kubernetes/index.js';
import { countBudget, decideStatus, failedStatus, needsScale } from './decide-status.js';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const readySince = '2026-01-01T00:00:00Z';

function aBudget(
  spec: PodDisruptionBudget['spec'],
  disruptedPods?: Record<string, string>,
): PodDisruptionBudget {
  return {
    ...{
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', generation: 3 },
      spec,
    },
    status: {
      ...{ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
      ...(disruptedPods && { disruptedPods }),
    },
  };
}

describe('a budget wants', () => {
  it.each([
    { spec: { minAvailable: 2 }, scaled: false, count: { expected: 5, desiredHealthy: 2 } },
    { spec: { minAvailable: '50%' }, scaled: true, count: { expected: 7, desiredHealthy: 4 } },
    { spec: { maxUnavailable: 2 }, scaled: true, count: { expected: 7, desiredHealthy: 5 } },
    { spec: { maxUnavailable: '30%' }, scaled: true, count: { expected: 7, desiredHealthy: 4 } },
    { spec: { maxUnavailable: 20 }, scaled: true, count: { expected: 7, desiredHealthy: 0 } },
    { spec: {}, scaled: false, count: { expected: 0, desiredHealthy: 0 } },
  ])('counts, of 5 pods where there should be 7, with $spec: $count', ({ count, scaled, spec }) => {
    expect(needsScale(aBudget(spec))).toBe(scaled);
    expect(countBudget(aBudget(spec), 5, 7)).toEqual(count);
  });
});

describe('the status of a budget', () => {
  const pods = ['a', 'b', 'c'].map((name) => aPod({ name, readySince }));
  const count = { expected: 3, desiredHealthy: 1 };

  it('counts pods that are ready and stay', () => {
    const going = aPod({ name: 'd', readySince, deletedAt: '2026-01-01T00:09:00Z' });
    expect(decideStatus(aBudget({}), [...pods, aPod({ name: 'e' }), going], count, nowMs)).toMatchObject({
      status: { currentHealthy: 3, disruptionsAllowed: 2, observedGeneration: 3 },
    });
  });

  it('takes a pod whose eviction was granted for gone, until two minutes are over', () => {
    const granted = aBudget(
      {},
      { a: '2026-01-01T00:09:00Z', b: '2026-01-01T00:07:00Z', gone: '2026-01-01T00:09:00Z' },
    );
    const { recheckMs, status } = decideStatus(granted, pods, count, nowMs);
    expect(status).toMatchObject({
      currentHealthy: 2,
      disruptionsAllowed: 1,
      disruptedPods: { a: '2026-01-01T00:09:00Z' },
    });
    expect(Object.keys(status.disruptedPods ?? {})).toEqual(['a']);
    expect(recheckMs).toBe(60_000);
  });

  it('allows nothing where no pod is expected, nor where nobody can count', () => {
    const none = decideStatus(aBudget({}), pods, { expected: 0, desiredHealthy: 0 }, nowMs);
    expect(none.status).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ reason: 'InsufficientPods' }],
    });
    expect(failedStatus(aBudget({}), 'no scale', nowMs)).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ reason: 'SyncFailed', message: 'no scale' }],
    });
  });

  it('names the pods that are there although their time is over, and at its very end waits once more', () => {
    const granted = aBudget({}, { a: '2026-01-01T00:08:00Z', b: '2026-01-01T00:07:59Z' });
    const { overdue, recheckMs, status } = decideStatus(granted, pods, count, nowMs);
    expect(overdue.map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(status).toMatchObject({ currentHealthy: 3, disruptedPods: { a: '2026-01-01T00:08:00Z' } });
    expect(recheckMs).toBe(1);
  });

  it('is the same when nothing has changed', () => {
    const { status } = decideStatus(aBudget({}), pods, count, nowMs);
    const again = decideStatus({ ...aBudget({}), status }, pods, count, nowMs + 60_000);
    expect(again.status).toEqual(status);
  });
});

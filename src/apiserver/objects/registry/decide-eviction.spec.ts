import { describe, expect, it } from 'vitest';
import { StatusError } from '../../schema/errors/index.js';
import { aPod } from '../../../testing/pod-builder.js';
import type { DisruptionBudget } from './decide-eviction.js';
import { budgetsOf, decideEvictionRule, takeFromBudget } from './decide-eviction.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

function aBudget(
  status: Partial<NonNullable<DisruptionBudget['status']>> = {},
  spec: DisruptionBudget['spec'] = {},
): DisruptionBudget {
  return {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
    metadata: { name: 'web', generation: 2 },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status: {
      ...{
        currentHealthy: 3,
        desiredHealthy: 2,
        expectedPods: 3,
        disruptionsAllowed: 1,
        observedGeneration: 2,
      },
      ...status,
    },
  };
}

const ready = aPod({ readySince: '2026-01-01T00:00:00Z' });
const unready = aPod();

describe('a pod that is to be evicted', () => {
  it.each([
    { name: 'is counted while it is ready', pod: ready, budget: aBudget(), rule: 'counted' },
    { name: 'is free without a budget', pod: ready, budget: undefined, rule: 'free' },
    { name: 'is free before it runs', pod: aPod({ phase: 'Pending' }), budget: aBudget(), rule: 'free' },
    { name: 'is free when it has ended', pod: aPod({ phase: 'Failed' }), budget: aBudget(), rule: 'free' },
    {
      name: 'is free while the budget is met and it is not ready',
      pod: unready,
      budget: aBudget(),
      rule: 'unready',
    },
    {
      name: 'is counted where too few are healthy already',
      pod: unready,
      budget: aBudget({ currentHealthy: 1 }),
      rule: 'counted',
    },
    {
      name: 'is free where too few are healthy, if the budget holds nobody who is not',
      pod: unready,
      budget: aBudget({ currentHealthy: 1 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
      rule: 'unready',
    },
  ])('$name', ({ budget, pod, rule }) => {
    expect(decideEvictionRule(pod, budget)).toBe(rule);
  });

  it('has the budgets that select it, one with an empty selector among them, and none without a selector', () => {
    const everything = aBudget({}, { selector: {} });
    const own = aBudget();
    const others = [
      aBudget({}, { selector: undefined }),
      aBudget({}, { selector: { matchLabels: { app: 'other' } } }),
    ];
    expect(budgetsOf(ready, [everything, ...others, own])).toEqual([everything, own]);
  });
});

describe('a budget', () => {
  it('records the pod that it let go, and that no other may follow', () => {
    expect(takeFromBudget(aBudget(), 'web-1', nowMs).status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { 'web-1': '2026-01-01T00:00:00Z' },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
  });

  const failed = {
    type: 'DisruptionAllowed',
    status: 'False' as const,
    reason: 'SyncFailed',
    message: 'no scale',
  };
  it.each([
    {
      name: 'of an older spec',
      budget: aBudget({ observedGeneration: 1 }),
      code: 429,
      says: 'The disruption budget web is still being processed by the server.',
    },
    {
      name: 'that is used up',
      budget: aBudget({ disruptionsAllowed: 0, currentHealthy: 2 }),
      code: 429,
      says: 'The disruption budget web needs 2 healthy pods and has 2 currently',
    },
    {
      name: 'that nobody could count',
      budget: aBudget({
        disruptionsAllowed: 0,
        conditions: [{ ...failed, lastTransitionTime: '2026-01-01T00:00:00Z' }],
      }),
      code: 429,
      says: 'The disruption budget web does not allow evicting pods currently because it failed sync: no scale',
    },
    { name: 'below zero', budget: aBudget({ disruptionsAllowed: -1 }), code: 403, says: undefined },
  ])('$name lets nobody go', ({ budget, code, says }) => {
    let refusal: unknown;
    try {
      takeFromBudget(budget, 'web-1', nowMs);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(StatusError);
    const { status } = refusal as StatusError;
    expect([status.code, status.details?.causes?.[0]?.message]).toEqual([code, says]);
  });
});

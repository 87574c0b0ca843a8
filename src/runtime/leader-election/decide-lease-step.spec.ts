import { describe, expect, it } from 'vitest';
import type { FinishedAttempt, LeaseStep, LeaseView } from './decide-lease-step.js';
import { decideLeaseStep } from './decide-lease-step.js';
import { compileLeaderElectionOptions } from './leader-election.options.js';

/** Lease 2500, renew deadline 1800, retry 400. */
const options = compileLeaderElectionOptions();
const acquireTime = '2026-01-01T00:00:00.000001Z';
const term = { epoch: 3, acquireTime, renewedAtMs: 10_000 };

function ended(changes: Partial<FinishedAttempt> = {}): FinishedAttempt {
  return { sentAtMs: 10_000, endedAtMs: 10_010, result: 'failed', retryMs: 500, ...changes };
}

const cases: { name: string; view: LeaseView; step: LeaseStep }[] = [
  {
    name: 'a follower asks at once when it knows nothing',
    view: { nowMs: 0 },
    step: { step: 'attempt', timeoutMs: 900 },
  },
  {
    name: 'a follower waits its retry after a failure',
    view: { nowMs: 10_010, last: ended() },
    step: { step: 'wait', waitMs: 500 },
  },
  {
    name: 'a follower asks when its retry is over',
    view: { nowMs: 10_510, last: ended() },
    step: { step: 'attempt', timeoutMs: 900 },
  },
  {
    name: 'a follower asks right at the end of the lease that it saw',
    view: { nowMs: 10_020, last: ended({ result: 'held', epoch: 2, remainingMs: 40 }) },
    step: { step: 'wait', waitMs: 30 },
  },
  {
    name: 'a follower looks again before the end of a long lease',
    view: { nowMs: 10_010, last: ended({ result: 'held', epoch: 2, remainingMs: 2400 }) },
    step: { step: 'wait', waitMs: 500 },
  },
  {
    name: 'a leader renews a retry period after its last request',
    view: { nowMs: 10_100, term },
    step: { step: 'wait', waitMs: 300 },
  },
  {
    name: 'a leader renews when it is time, for half of its deadline: a request that hangs leaves time for another',
    view: { nowMs: 10_400, term },
    step: { step: 'attempt', timeoutMs: 900 },
  },
  {
    name: 'a leader tries again after a failure, for the time that is left',
    view: { nowMs: 11_000, term, last: ended({ sentAtMs: 10_500 }) },
    step: { step: 'attempt', timeoutMs: 800 },
  },
  {
    name: 'a leader waits no longer than its belief lasts',
    view: { nowMs: 11_700, term, last: ended({ sentAtMs: 11_650 }) },
    step: { step: 'wait', waitMs: 100 },
  },
  {
    name: 'a leader gives up at its deadline, though its lease lasts longer',
    view: { nowMs: 11_800, term, last: ended({ sentAtMs: 11_700 }) },
    step: { step: 'stepDown', reason: 'deadline' },
  },
  {
    name: 'a leader gives up when somebody else holds the lease',
    view: { nowMs: 10_500, term, last: ended({ result: 'held', epoch: 4, remainingMs: 2000 }) },
    step: { step: 'stepDown', reason: 'taken' },
  },
  {
    name: 'a leader gives up when the lease is its own again and was not in between',
    view: { nowMs: 10_500, term, last: ended({ result: 'acquired', epoch: 4 }) },
    step: { step: 'stepDown', reason: 'interrupted' },
  },
  ...[1, 2, 3, 4].map((epoch) => ({
    name: `a leader of epoch 3 whose renewal acquires gives up, although the epoch is ${epoch}: the store had lost the lease`,
    view: { nowMs: 10_500, term, last: ended({ result: 'acquired', epoch, acquireTime: '2026-02' }) },
    step: { step: 'stepDown', reason: 'interrupted' } as const,
  })),
  {
    name: 'a leader gives up when it renews what another attempt has acquired, whose answer was lost',
    view: { nowMs: 10_500, term, last: ended({ result: 'renewed', epoch: 3, acquireTime: '2026-02' }) },
    step: { step: 'stepDown', reason: 'interrupted' },
  },
  {
    name: 'a leader goes on with the term that it renews',
    view: { nowMs: 10_390, term, last: ended({ result: 'renewed', epoch: 3, acquireTime }) },
    step: { step: 'wait', waitMs: 10 },
  },
];

describe('the next step of an elector', () => {
  it.each(cases)('$name', ({ view, step }) => {
    const before = structuredClone(view);
    expect(decideLeaseStep(view, options)).toEqual(step);
    expect(view).toEqual(before);
  });
});

import { describe, expect, it } from 'vitest';
import type { FinishedAttempt } from './decide-lease-step.js';
import { epochAboveAfter, termAfter, termWonBy } from './decide-term.js';
import { compileLeaderElectionOptions } from './leader-election.options.js';

const OPTIONS = compileLeaderElectionOptions({ leaseDurationMs: 4000, renewDeadlineMs: 3000 });
const ANSWER: FinishedAttempt = {
  ...{ sentAtMs: 1000, endedAtMs: 1500, result: 'acquired', epoch: 7, acquireTime: 'then', retryMs: 400 },
};

describe('a term', () => {
  it('counts from when the lease was asked for', () => {
    expect(termWonBy(ANSWER, 1500, OPTIONS)).toEqual({ epoch: 7, acquireTime: 'then', renewedAtMs: 1000 });
  });

  it('is not won by an answer that comes once the lease may have ended, nor by none, nor by that of another', () => {
    expect(termWonBy(ANSWER, 4000, OPTIONS)).toBeUndefined();
    expect(termWonBy({ ...ANSWER, result: 'held' }, 1500, OPTIONS)).toBeUndefined();
    expect(termWonBy({ ...ANSWER, result: 'failed', epoch: undefined }, 1500, OPTIONS)).toBeUndefined();
  });

  it('is prolonged by a renewal of its epoch in time, from when that was sent', () => {
    const term = { epoch: 7, acquireTime: 'then', renewedAtMs: 0 };
    const renewal: FinishedAttempt = { ...ANSWER, result: 'renewed' };
    expect(termAfter(term, renewal, OPTIONS)).toEqual({ ...term, renewedAtMs: 1000 });
    for (const other of [{ endedAtMs: 3000 }, { epoch: 8 }, { result: 'acquired' as const }])
      expect(termAfter(term, { ...renewal, ...other }, OPTIONS)).toBe(term);
  });

  it('may continue in its epoch, and has to exceed that after an interruption, another holder or a refusal', () => {
    expect(epochAboveAfter(0, { by: 'own-term', epoch: 7 })).toBe(6);
    for (const by of ['interruption', 'another-holder', 'refusal'] as const) {
      expect(epochAboveAfter(0, { by, epoch: 7 })).toBe(7);
      expect(epochAboveAfter(9, { by, epoch: 7 })).toBe(9);
    }
  });
});

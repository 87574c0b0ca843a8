import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../../chaos/faults/fault.js';
import { createSchedule } from '../../chaos/schedule.js';

describe('the schedule of faults', () => {
  const options = { seed: 5, kinds: FAULT_KINDS, roundMs: 60_000, rounds: 10, gapMs: [2000, 7000] as const };

  it('is the same again for the same seed, and another for another', () => {
    expect(createSchedule(options)).toEqual(createSchedule(options));
    expect(createSchedule({ ...options, seed: 6 })).not.toEqual(createSchedule(options));
  });

  it('makes every kind about equally often', () => {
    const kinds = createSchedule(options).flatMap((round) => round.map(({ kind }) => kind));
    const counts = FAULT_KINDS.map((kind) => kinds.filter((other) => other === kind).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });
});

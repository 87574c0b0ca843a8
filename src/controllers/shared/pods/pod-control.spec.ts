import { describe, expect, it } from 'vitest';
import { slowStartBatch } from './pod-control.js';

async function run(count: number, failAt = Infinity) {
  const batches: number[] = [];
  let inFlight = 0;
  const items = Array.from({ length: count }, (_, index) => index);
  const result = await slowStartBatch(
    items,
    async (item) => {
      inFlight++;
      await Promise.resolve();
      if (inFlight > 0) batches.push(inFlight);
      inFlight = 0;
      return item < failAt ? 'ok' : 'failed';
    },
    (outcome) => outcome === 'failed',
  );
  return { batches, tried: result.outcomes.length, untried: result.untried };
}

describe('slowStartBatch', () => {
  it('doubles from one', async () => {
    expect((await run(10)).batches).toEqual([1, 2, 4, 3]);
  });

  it('stops after the batch with a failure and reports what was not tried', async () => {
    expect(await run(10, 4)).toEqual({ batches: [1, 2, 4], tried: 7, untried: [7, 8, 9] });
    expect(await run(3, 0)).toEqual({ batches: [1], tried: 1, untried: [1, 2] });
  });

  it('does nothing for nothing', async () => {
    expect(await run(0)).toEqual({ batches: [], tried: 0, untried: [] });
  });
});

import { describe, expect, it } from 'vitest';
import { nextTurn } from './turns.js';

describe('nextTurn', () => {
  it('lets one go on in each round of the event loop, in the order of their asking', async () => {
    const order: string[] = [];
    const work = ['a', 'b', 'c'].map(async (name) => {
      await nextTurn();
      order.push(name);
    });
    for (let round = 1; round <= 3; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(String(round));
    }
    await Promise.all(work);
    expect(order).toEqual(['a', '1', 'b', '2', 'c', '3']);
  });
});

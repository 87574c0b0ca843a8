import { describe, expect, it } from 'vitest';
import { atEndOfTurn, nextTurn, replaceTurns } from './turns.js';

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

describe('replaced turns', () => {
  it('come when the replacement says, and in the order of their asking', async () => {
    const asked: (() => void)[] = [];
    const restore = replaceTurns((callback) => asked.push(callback));
    const order: string[] = [];
    try {
      const turn = nextTurn().then(() => order.push('turn'));
      atEndOfTurn(() => order.push('end'));
      expect(asked).toHaveLength(2);
      for (const callback of asked.toReversed()) callback();
      await turn;
      expect(order).toEqual(['end', 'turn']);
    } finally {
      restore();
    }
  });
});

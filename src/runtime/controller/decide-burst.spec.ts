import { describe, expect, it } from 'vitest';
import { decideBurst } from './decide-burst.js';

describe('a burst of changes', () => {
  const burst = decideBurst(undefined, 40, 1000);

  it('is over once nothing has come for its quiet time', () => {
    expect(burst.dueMs).toBe(1040);
    expect(decideBurst(burst, 40, 1030).dueMs).toBe(1070);
  });

  it('is cut when it does not end', () => {
    let held = burst;
    for (let nowMs = 1010; nowMs < 1400 && held.dueMs > nowMs; nowMs += 10)
      held = decideBurst(held, 40, nowMs);
    expect(held.dueMs).toBe(1200);
  });

  it('is over at once for a change that cannot wait', () => {
    expect(decideBurst(burst, 0, 1010).dueMs).toBe(1010);
  });

  it('is not put off by a change that could wait longer, nor by a more urgent one that comes late', () => {
    expect(decideBurst(burst, 500, 1030)).toBe(burst);
    const late = decideBurst({ firstMs: 1000, delayMs: 500, dueMs: 1500 }, 40, 1490);
    expect(late.dueMs).toBe(1500);
  });
});

import { describe, expect, it } from 'vitest';
import type { Model } from './explorer.js';
import { ModelViolation, explore } from './explorer.js';

/** A counter from 0 to 9 that may break, and then counts no more. */
const COUNTER: Model<{ readonly count: number; readonly isBroken: boolean }> = {
  name: 'counter',
  initial: { count: 0, isBroken: false },
  steps: ({ count, isBroken }) =>
    isBroken
      ? []
      : [1, 3]
          .filter((more) => count + more <= 9)
          .map((more) => ({ says: `It counts ${more}`, to: { count: count + more, isBroken } })),
  fingerprint: ({ count, isBroken }) => `${count} ${isBroken}`,
  violation: () => undefined,
};

describe('an exploration', () => {
  it('visits each reachable state once', () => {
    expect(explore(COUNTER)).toEqual({ states: 10, steps: 9 + 7, depth: 4 });
  });

  it('gives the shortest path to a broken promise, in sentences', () => {
    const model = {
      ...COUNTER,
      violation: ({ count }: { count: number }) => (count === 7 ? 'It counts to seven' : undefined),
    };
    expect(() => explore(model)).toThrow(
      'It counts to seven (model of the counter, after 3 steps)\n  1. It counts 1.\n  2. It counts 3.\n  3. It counts 3.',
    );
  });

  it('finds a state from which the goal cannot be reached without another fault', () => {
    const goal = { says: 'it counts to nine', isReached: ({ count }: { count: number }) => count === 9 };
    expect(explore({ ...COUNTER, goal }).states).toBe(10);
    const breaking: typeof COUNTER = {
      ...COUNTER,
      goal,
      steps: (state) => [
        ...COUNTER.steps(state),
        ...(state.count === 3
          ? [{ says: 'It breaks', to: { ...state, isBroken: true }, isFault: true }]
          : []),
      ],
    };
    let found: unknown;
    try {
      explore(breaking);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(ModelViolation);
    expect((found as ModelViolation).path).toEqual(['It counts 3', 'It breaks']);
  });
});

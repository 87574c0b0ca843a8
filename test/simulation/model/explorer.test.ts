import { describe, expect, it } from 'vitest';
import type { Model, Step } from './explorer.js';
import { ModelViolation, explore } from './explorer.js';

interface Count {
  readonly count: number;
  readonly isBroken: boolean;
}

/** A counter from 0 to 9 that may break, and then counts no more. */
const COUNTER: Omit<Model<Count>, 'steps'> & { steps(state: Count): readonly Step<Count>[] } = {
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
  it('visits each reachable state once', async () => {
    expect(await explore(COUNTER)).toEqual({ states: 10, steps: 9 + 7, depth: 4 });
  });

  it('gives the shortest path to a broken promise, in sentences', async () => {
    const model = {
      ...COUNTER,
      violation: ({ count }: { count: number }) => (count === 7 ? 'It counts to seven' : undefined),
    };
    await expect(explore(model)).rejects.toThrow(
      'It counts to seven (model of the counter, after 3 steps)\n  1. It counts 1.\n  2. It counts 3.\n  3. It counts 3.',
    );
  });

  it('finds a state from which the goal cannot be reached without another fault', async () => {
    const goal = { says: 'it counts to nine', isReached: ({ count }: { count: number }) => count === 9 };
    expect((await explore({ ...COUNTER, goal })).states).toBe(10);
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
      await explore(breaking);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(ModelViolation);
    expect((found as ModelViolation).path).toEqual(['It counts 3', 'It breaks']);
  });
});

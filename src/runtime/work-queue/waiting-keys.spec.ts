import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Turn } from './fair-turns.js';
import { FairTurns, compareTurns } from './fair-turns.js';
import { WaitingKeys } from './waiting-keys.js';
import type { Priority } from './work-queue.js';

const AGING_MS = 20;

interface Waiting {
  readonly priority: Priority;
  readonly sinceMs: number;
  turn: Turn;
}

/** The same rules, by a look at every key. */
class Model {
  readonly waiting = new Map<string, Waiting>();
  private readonly turns = new FairTurns();

  put(key: string, priority: Priority, sinceMs: number): void {
    const before = this.waiting.get(key);
    const turn = before?.priority === priority ? before.turn : this.turns.next(key, priority);
    this.waiting.set(key, { priority, sinceMs, turn });
  }

  take(agedBeforeMs: number): string | undefined {
    for (const [key, each] of this.waiting) {
      if (each.turn.line === 'foreground' || each.sinceMs > agedBeforeMs) continue;
      each.turn = { ...this.turns.next(key, 'aged'), sequence: each.turn.sequence };
    }
    const [next] = [...this.waiting].sort(([, one], [, other]) => compareTurns(one.turn, other.turn));
    if (!next) return undefined;
    this.turns.begin(next[1].turn);
    this.waiting.delete(next[0]);
    return next[0];
  }

  oldestSinceMs(): number | undefined {
    const since = [...this.waiting.values()].map(({ sinceMs }) => sinceMs);
    return since.length === 0 ? undefined : Math.min(...since);
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('put' as const), fc.nat(11), fc.nat(2)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('take' as const), fc.nat(30), fc.nat(0)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('delete' as const), fc.nat(11), fc.nat(0)) },
);
const PRIORITIES = ['high', 'normal', 'low'] as const;

describe('keys that wait', () => {
  it('are taken in the order that a look at all of them finds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const [keys, model] = [new WaitingKeys(), new Model()];
        let nowMs = 0;
        for (const [what, number, rank] of steps) {
          const key = `ns-${number % 3}/${number}`;
          if (what === 'put') {
            // A key that waits is only ever raised.
            const before = PRIORITIES.indexOf(model.waiting.get(key)?.priority ?? 'low');
            const priority = PRIORITIES[Math.min(before, rank)] ?? 'low';
            const sinceMs = model.waiting.get(key)?.sinceMs ?? nowMs;
            keys.put(key, { priority, readySinceMs: sinceMs });
            model.put(key, priority, sinceMs);
          } else if (what === 'delete') {
            keys.delete(key);
            model.waiting.delete(key);
          } else {
            nowMs += number;
            expect(keys.take(nowMs - AGING_MS)).toBe(model.take(nowMs - AGING_MS));
          }
          expect({ size: keys.size, oldest: keys.oldestSinceMs(), has: keys.has(key) }).toEqual({
            size: model.waiting.size,
            oldest: model.oldestSinceMs(),
            has: model.waiting.has(key),
          });
        }
      }),
      { verbose: 1 },
    );
  });

  it('are all dropped at once on demand', () => {
    const keys = new WaitingKeys();
    for (let index = 0; index < 100; index++)
      keys.put(`ns/${index}`, { priority: PRIORITIES[index % 3] ?? 'low', readySinceMs: index });
    keys.clear();
    expect([keys.size, keys.oldestSinceMs(), keys.take(1000)]).toEqual([0, undefined, undefined]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Turn } from './fair-turns.js';
import { FairTurns, compareTurns, shareOf } from './fair-turns.js';
import type { Priority } from './work-queue.js';

/** Keys that wait, and the next of them by their turns. */
class Line {
  readonly turns = new FairTurns();
  private readonly waiting = new Map<string, Turn>();
  private added = 0;

  add(namespace: string, priority: Priority): string {
    const key = `${namespace}/${this.added++}`;
    this.waiting.set(key, this.turns.next(key, priority));
    return key;
  }

  take(): string | undefined {
    const [next] = [...this.waiting].sort(([, one], [, other]) => compareTurns(one, other));
    if (!next) return undefined;
    this.turns.begin(next[1]);
    this.waiting.delete(next[0]);
    return next[0];
  }
}

describe('turns of namespaces', () => {
  it('are of the part before the slash; keys without one share a turn', () => {
    expect(shareOf('ns/name')).toBe('ns');
    expect(shareOf('node-1')).toBe('');
  });

  it('delay a key by no more than the shares of the others, however many keys of theirs wait', () => {
    const arrivals = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('high', 'normal')), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(arrivals, fc.nat(100), (before, taken) => {
        const line = new Line();
        for (const [namespace, priority] of before) line.add(namespace, priority);
        for (let count = 0; count < taken; count++) line.take();
        const quiet = line.add('quiet', 'normal');
        let runsBefore = 0;
        while (line.take() !== quiet) runsBefore += 1;
        // Each other namespace has one ordinary key and eight user changes, and those that are placed where it is.
        expect(runsBefore).toBeLessThanOrEqual(3 * 10);
      }),
      { verbose: 1 },
    );
  });

  it('save nothing up while a namespace has nothing waiting', () => {
    const line = new Line();
    for (let index = 0; index < 20; index++) line.add('busy', 'normal');
    for (let index = 0; index < 10; index++) line.take();
    for (let index = 0; index < 5; index++) line.add('late', 'normal');
    const next = Array.from({ length: 10 }, () => shareOf(line.take() ?? ''));
    expect(next.filter((share) => share === 'busy').length).toBeGreaterThanOrEqual(4);
  });

  it('remember no namespace that has had its turn, however many there were', () => {
    const line = new Line();
    line.add('busy', 'normal');
    for (let index = 0; index < 5000; index++) {
      line.add('busy', 'normal');
      line.add(`ns-${index}`, 'normal');
      line.take();
      line.take();
    }
    expect(line.turns.remembered).toBeLessThan(200);
  });

  it('leave keys of the background for last', () => {
    const line = new Line();
    const low = line.add('a', 'low');
    const others = [line.add('b', 'normal'), line.add('b', 'high')];
    expect([line.take(), line.take(), line.take()]).toEqual([others[1], others[0], low]);
  });
});

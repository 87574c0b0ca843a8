import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedHeap } from './keyed-heap.js';

interface Item {
  readonly key: string;
  readonly rank: number;
}

const goesFirst = (one: Item, other: Item): boolean =>
  one.rank === other.rank ? one.key < other.key : one.rank < other.rank;

const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key: fc.nat(20), rank: fc.nat(9) }),
  fc.record({ kind: fc.constant('delete' as const), key: fc.nat(20) }),
  fc.record({ kind: fc.constant('pop' as const) }),
);

describe('a heap with keys', () => {
  it('gives the first item of all that are in it, whatever is replaced and removed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new KeyedHeap<Item>(({ key }) => key, goesFirst);
        const model = new Map<string, Item>();
        const first = (): Item | undefined =>
          [...model.values()].sort((one, other) => (goesFirst(one, other) ? -1 : 1))[0];
        for (const each of steps) {
          if (each.kind === 'set') {
            const item = { key: String(each.key), rank: each.rank };
            heap.set(item);
            model.set(item.key, item);
          } else if (each.kind === 'delete') {
            const key = String(each.key);
            expect(heap.delete(key)).toEqual(model.get(key));
            model.delete(key);
          } else {
            const popped = heap.pop();
            expect(popped).toEqual(first());
            if (popped) model.delete(popped.key);
          }
          expect({ size: heap.size, first: heap.peek() }).toEqual({ size: model.size, first: first() });
        }
        for (const [key, item] of model) expect(heap.get(key)).toEqual(item);
      }),
      { verbose: 1 },
    );
  });

  it('compares each item with as many others as its size has binary digits', () => {
    const comparisonsOf = (count: number): number => {
      let compared = 0;
      const less = (one: Item, other: Item): boolean => {
        compared += 1;
        return goesFirst(one, other);
      };
      const heap = new KeyedHeap<Item>(({ key }) => key, less);
      for (let index = 0; index < count; index++)
        heap.set({ key: String(index), rank: (index * 7919) % count });
      while (heap.pop());
      return compared;
    };
    for (const count of [100, 1000, 10_000])
      expect(comparisonsOf(count)).toBeLessThan(4 * count * Math.log2(count));
  });
});

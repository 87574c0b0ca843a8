import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/machinery/clock/index.js';
import { isNightly } from '../../../src/testing/property-runs.js';

/** How many keys are made and deleted. */
const KEYS = isNightly ? 50_000 : 400;

/** The most that may be remembered of a last key, elements. */
const SLACK = 40;

/** One sort of keys that come and go. */
export interface PassingKeys {
  readonly name: string;
  /** How many keys are made and deleted at most, where each takes long. @default 50 000 at night, 400 otherwise */
  readonly most?: number;
  /** @returns what is looked at, and what makes, uses and deletes the key of this number */
  readonly make: (clock: FakeClock) => {
    /** Its elements are counted; or a function that counts. */
    readonly kept: unknown;
    readonly use: (index: number) => Promise<unknown> | void;
    /** The most that is kept for a fixed number of keys, regardless of how many there were. @default none */
    readonly fill?: number;
  };
}

/** Tests of each sort that what is kept does not grow with the number of keys that ever existed. */
export function describePassingKeys(sorts: readonly PassingKeys[]): void {
  describe('the memory of a process does not grow with the number of keys that ever existed:', () => {
    it.each(sorts)('$name', async ({ make, most = KEYS }) => {
      const clock = new FakeClock();
      const { fill = 0, kept, use } = make(clock);
      const useMany = async (from: number, count: number): Promise<number> => {
        for (let index = from; index < from + count; index++) {
          await use(index);
          if (index % 100 === 99) await clock.advance(2000);
        }
        // As long as anything may be remembered; the next key makes it forget.
        await clock.advance(200_000);
        await use(from + count);
        await clock.advance(0);
        return typeof kept === 'function' ? ((await kept()) as number) : elementsOf(kept);
      };
      const before = await useMany(0, fill + 5);
      const after = await useMany(10_000_000, Math.min(most, KEYS));
      expect(after).toBeLessThanOrEqual(before + SLACK);
    });
  });
}

/** The elements of all maps, sets and arrays that can be reached, without what is only held weakly. */
function elementsOf(kept: unknown): number {
  const seen = new Set<unknown>();
  const open = [kept];
  let count = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (next instanceof Map) {
      count += next.size;
      open.push(...next.keys(), ...next.values());
    } else if (next instanceof Set || Array.isArray(next)) {
      const all = [...(next as Iterable<unknown>)];
      count += all.length;
      open.push(...all);
    }
    open.push(...Object.values(next));
  }
  return count;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { NO_REPLICA, decideSlots } from './index.js';
import type { SlotHolders } from './index.js';

const FREE: SlotHolders = { owner: NO_REPLICA, standby: NO_REPLICA };
const free = (count: number): SlotHolders[] => Array.from({ length: count }, () => FREE);
const replicasOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `replica-${index}`);
const always = () => true;

/** Decides until nothing changes. All copies are current when they are asked for the next time. */
function settle(slots: readonly SlotHolders[], replicas: readonly string[], movesAtOnce = 4) {
  const steps = [slots];
  for (;;) {
    const before = steps.at(-1)!;
    const next = decideSlots({ slots: before, replicas, isCurrent: always, movesAtOnce });
    if (JSON.stringify(next) === JSON.stringify(before)) return { slots: next, steps };
    steps.push(next);
    if (steps.length > 1000) throw new Error('the assignment does not come to rest');
  }
}

function loads(slots: readonly SlotHolders[], role: keyof SlotHolders = 'owner'): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { [role]: replica } of slots) counts.set(replica, (counts.get(replica) ?? 0) + 1);
  return counts;
}

function ownersMoved(before: readonly SlotHolders[], after: readonly SlotHolders[]): number {
  return before.filter(({ owner }, slot) => owner !== after[slot]!.owner).length;
}

const sizes = fc.record({ count: fc.integer({ min: 1, max: 64 }), size: fc.integer({ min: 1, max: 12 }) });
const runs = propertyRuns({ gate: 40, nightly: 1000 });

function expectHeld(slots: readonly SlotHolders[], replicas: readonly string[]): void {
  for (const { owner, standby } of slots) {
    expect(replicas).toContain(owner);
    if (replicas.length > 1) expect(replicas.filter((replica) => replica !== owner)).toContain(standby);
    else expect(standby).toBe(NO_REPLICA);
  }
  const numbers = replicas.map((replica) => loads(slots).get(replica) ?? 0);
  expect(Math.max(...numbers) - Math.min(...numbers)).toBeLessThanOrEqual(2);
}

describe('the assignment of slots', () => {
  it('gives each slot an owner and a standby, and no replica more than two slots more than another', () => {
    fc.assert(
      fc.property(sizes, ({ count, size }) => {
        const replicas = replicasOf(size);
        expectHeld(settle(free(count), replicas).slots, replicas);
      }),
      runs,
    );
  });

  it('does not depend on the order in which replicas are named', () => {
    const one = settle(free(32), replicasOf(5)).slots;
    expect(settle(free(32), replicasOf(5).reverse()).slots).toEqual(one);
  });

  it('moves S/N slots to a replica that comes, and none between the others', () => {
    fc.assert(
      fc.property(sizes, ({ count, size }) => {
        const replicas = replicasOf(size);
        const before = settle(free(count), replicas).slots;
        const { slots: after } = settle(before, [...replicas, 'new']);
        expectHeld(after, [...replicas, 'new']);
        expect(ownersMoved(before, after)).toBeLessThanOrEqual(Math.ceil(count / (size + 1)) + 1);
        before.forEach(({ owner }, slot) => {
          if (after[slot]!.owner !== owner) expect(after[slot]!.owner).toBe('new');
        });
      }),
      runs,
    );
  });

  it('moves the slots of a replica that goes, each to its standby, and hardly another', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), ({ count, size }, chosen) => {
        if (size < 2) return;
        const replicas = replicasOf(size);
        const before = settle(free(count), replicas).slots;
        const gone = replicas[chosen % size]!;
        const left = replicas.filter((replica) => replica !== gone);
        const { slots: after, steps } = settle(before, left);
        expectHeld(after, left);
        const own = before.filter(({ owner }) => owner === gone).length;
        before.forEach(({ owner, standby }, slot) => {
          if (owner === gone) expect(steps[1]![slot]!.owner).toBe(standby);
        });
        expect(ownersMoved(before, after)).toBeLessThanOrEqual(own + 2);
      }),
      runs,
    );
  });

  it('never leaves a slot without an owner, and never gives it to a replica whose copy is behind while the owner lives', () => {
    const change = fc.record({
      replicas: fc.uniqueArray(fc.nat({ max: 7 }), { minLength: 1 }),
      current: fc.nat(),
    });
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (changes, count) => {
          let slots: readonly SlotHolders[] = free(count);
          for (const { current, replicas: numbers } of changes) {
            const replicas = numbers.map((number) => `replica-${number}`);
            const isCurrent = (replica: string, slot: number) =>
              (replica.length + slot * 7 + current) % 3 === 0;
            const next = decideSlots({ slots, replicas, isCurrent, movesAtOnce: 3 });
            next.forEach(({ owner }, slot) => {
              expect(replicas).toContain(owner);
              const before = slots[slot]!;
              if (owner === before.owner || !replicas.includes(before.owner)) return;
              expect([before.standby, isCurrent(owner, slot)]).toEqual([owner, true]);
            });
            slots = next;
          }
        },
      ),
      runs,
    );
  });

  it('has no more slots on their way at once than it may', () => {
    const before = settle(free(32), replicasOf(3)).slots;
    const replicas = [...replicasOf(3), 'new'];
    const next = decideSlots({ slots: before, replicas, isCurrent: () => false, movesAtOnce: 2 });
    expect(next.filter(({ standby }) => standby === 'new')).toHaveLength(2);
    expect(ownersMoved(before, next)).toBe(0);
    const then = decideSlots({ slots: next, replicas, isCurrent: always, movesAtOnce: 2 });
    expect(then.filter(({ owner }) => owner === 'new')).toHaveLength(2);
  });

  it('comes to keep about as many copies in each replica, however the replicas have come', () => {
    fc.assert(
      fc.property(sizes, ({ count, size }) => {
        let slots: readonly SlotHolders[] = free(count);
        for (let living = 1; living <= size; living++) slots = settle(slots, replicasOf(living)).slots;
        if (size < 3) return;
        const [owned, stoodBy] = [loads(slots), loads(slots, 'standby')];
        const copies = replicasOf(size).map((each) => (owned.get(each) ?? 0) + (stoodBy.get(each) ?? 0));
        expect(Math.max(...copies)).toBeLessThanOrEqual(Math.ceil((2 * count) / size) + 2);
      }),
      runs,
    );
  });

  it('moves no standby while a copy is not current, so that at most one slot is without a warm one', () => {
    const two = settle(free(12), replicasOf(2)).slots;
    const replicas = replicasOf(3);
    const isCurrent = (replica: string, slot: number) => replica !== 'replica-2' || slot !== 0;
    const { slots } = settle(two, replicas);
    const behind = slots.with(0, { owner: slots[0]!.owner, standby: 'replica-2' });
    expect(
      decideSlots({ slots: behind, replicas, isCurrent, movesAtOnce: 1 }).map(({ standby }) => standby),
    ).toEqual(behind.map(({ standby }) => standby));
  });

  it('makes the old owner of a moved slot its standby, whose copy is current', () => {
    const before = settle(free(32), replicasOf(3)).slots;
    const { steps } = settle(before, [...replicasOf(3), 'new'], 1);
    const first = steps.findIndex((slots) => slots.some(({ owner }) => owner === 'new'));
    const slot = steps[first]!.findIndex(({ owner }) => owner === 'new');
    expect(steps[first]![slot]!.standby).toBe(before[slot]!.owner);
  });

  it('leaves everything as it is while no replica lives', () => {
    const before = settle(free(8), replicasOf(2)).slots;
    expect(decideSlots({ slots: before, replicas: [], isCurrent: always, movesAtOnce: 1 })).toEqual(before);
  });

  it('gives slots of which no holder lives to the replicas whose copies are current', () => {
    const replicas = replicasOf(3);
    const copyOf = (slot: number): string => replicas[slot % replicas.length]!;
    const isCurrent = (replica: string, slot: number) => replica === copyOf(slot);
    const next = decideSlots({ slots: free(30), replicas, isCurrent, movesAtOnce: 1 });
    expect(next.map(({ owner }) => owner)).toEqual(free(30).map((_, slot) => copyOf(slot)));
  });

  describe('beside replicas whose copies do not become current', () => {
    const late = ['late-0', 'late-1'];
    const isUnfit = (replica: string): boolean => late.includes(replica);
    const isCurrent = (replica: string): boolean => !isUnfit(replica);

    /** Decides until nothing changes; the copies of late replicas never come. */
    function settleBeside(slots: readonly SlotHolders[], replicas: readonly string[]) {
      let before = slots;
      for (let step = 0; step < 1000; step++) {
        const next = decideSlots({ slots: before, replicas, isCurrent, isUnfit, movesAtOnce: 4 });
        if (JSON.stringify(next) === JSON.stringify(before)) return next;
        before = next;
      }
      throw new Error('the assignment does not come to rest');
    }

    it('comes to what it is without them, if two others live, from any beginning', () => {
      fc.assert(
        fc.property(
          sizes,
          fc.array(fc.nat(), { minLength: 128, maxLength: 128 }),
          ({ count, size }, dice) => {
            const fit = replicasOf(Math.max(size, 2));
            const all = [...fit, ...late];
            const began = free(count).map((_, slot) => ({
              owner: all[dice[2 * slot]! % all.length]!,
              standby: all[dice[2 * slot + 1]! % all.length]!,
            }));
            expectHeld(settleBeside(began, all), fit);
          },
        ),
        runs,
      );
    });

    it('lets a late replica stand by where there is no other, and own where all are late', () => {
      expectHeld(settleBeside(free(8), late), late);
      const slots = settleBeside(free(8), ['late-0', 'replica-0']);
      expect(slots).toEqual(free(8).map(() => ({ owner: 'replica-0', standby: 'late-0' })));
    });

    it('moves no slot away from a late replica whose copy of it is current', () => {
      const replicas = ['late-0', ...replicasOf(2)];
      const before = settle(free(12), replicas).slots;
      const next = decideSlots({ slots: before, replicas, isUnfit, isCurrent: always, movesAtOnce: 4 });
      expect(next.map(({ owner }) => owner)).toEqual(before.map(({ owner }) => owner));
    });
  });
});

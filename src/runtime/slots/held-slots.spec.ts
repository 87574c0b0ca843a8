import { describe, expect, it } from 'vitest';
import { HeldSlots } from './index.js';

const COUNT = 8;

/** Two namespaces in different slots. */
function twoNamespaces(held: HeldSlots): readonly [string, string] {
  const names = ['shop', 'bank', 'office', 'farm'];
  const other = names.find((name) => held.slotOf(name) !== held.slotOf('shop'));
  return ['shop', other!];
}

function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

describe('the slots that a replica holds', () => {
  it('run the keys of their namespaces and no others', async () => {
    const held = new HeldSlots(COUNT);
    const [ours, theirs] = twoNamespaces(held);
    held.begin(new Map([[held.slotOf(ours), 1]]));
    const ran: string[] = [];
    for (const namespace of [ours, theirs]) await held.run(namespace, async () => void ran.push(namespace));
    expect(ran).toEqual([ours]);
    expect([held.owns(ours), held.owns(theirs)]).toEqual([true, false]);
  });

  it('begin once for each epoch, and end when they are not among the others any more', () => {
    const held = new HeldSlots(COUNT);
    const seen: string[] = [];
    held.listen({
      begun: (slots) => seen.push(`begun ${[...slots].join()}`),
      ended: (slots) => seen.push(`ended ${[...slots].join()}`),
    });
    held.begin(new Map([[1, 5]]));
    held.begin(new Map([[1, 5]]));
    held.endOthers(new Map([[1, 5]]));
    held.endOthers(new Map([[1, 6]]));
    held.begin(new Map([[1, 6]]));
    expect(seen).toEqual(['begun 1', 'ended 1', 'begun 1']);
  });

  it('are in use until the last run has ended, also after they have ended, and then it is told once', async () => {
    const held = new HeldSlots(COUNT);
    const slot = held.slotOf('shop');
    held.begin(new Map([[slot, 1]]));
    const [first, second] = [gate(), gate()];
    const runs = [held.run('shop', () => first.passed), held.run('shop', () => second.passed)];
    let idle = 0;
    held.onIdle(() => void idle++);
    held.endOthers(new Map());
    first.open();
    await runs[0];
    expect([[...held.inUse], idle, held.tellsOf('shop'), held.owns('shop')]).toEqual([
      [slot],
      0,
      true,
      false,
    ]);
    second.open();
    await runs[1];
    expect([[...held.inUse], idle, held.tellsOf('shop')]).toEqual([[], 1, false]);
  });

  it('tell of those alone that begin, while they begin', () => {
    const held = new HeldSlots(COUNT);
    const [before, now] = twoNamespaces(held);
    const told: boolean[] = [];
    held.begin(new Map([[held.slotOf(before), 1]]));
    held.listen({
      begun: () => told.push(held.tellsOf(before), held.tellsOf(now)),
      ended: () => undefined,
    });
    held.begin(new Map([[held.slotOf(now), 1]]));
    expect(told).toEqual([false, true]);
    expect(held.tellsOf(before)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import type { SeenMembers } from './decide-members.js';
import { NOTHING_SEEN, decideMembers, isSilent } from './decide-members.js';
import type { SlotReport } from './index.js';

const LOOK_EVERY_MS = 250;
const report = (id: number, ageMs = 100): SlotReport => ({ replica: 'x', current: [1], id: `${id}`, ageMs });

/** Looks every 250 ms for so long, and sees this report each time. */
function look(before: SeenMembers, forMs: number, seen: SlotReport): SeenMembers {
  let after = before;
  const beganAtMs = Math.max(before.lookedAtMs, 0);
  for (let ms = LOOK_EVERY_MS; ms <= forMs; ms += LOOK_EVERY_MS)
    after = decideMembers(after, { nowMs: beganAtMs + ms, reports: [seen] });
  return after;
}

const first = (seen: SlotReport): SeenMembers => decideMembers(NOTHING_SEEN, { nowMs: 0, reports: [seen] });
const isDead = (seen: SeenMembers): boolean => seen.members.every(isSilent);
const isDoubted = (seen: SeenMembers): boolean => seen.members.every(({ isDoubtful }) => isDoubtful);

describe('the leader', () => {
  it('takes a replica for dead 15 s after it has first seen its last report', () => {
    const once = first(report(1));
    expect(isDead(look(once, 14_750, report(1)))).toBe(false);
    expect(isDead(look(once, 15_000, report(1)))).toBe(true);
  });

  it('takes a replica whose reports go on for alive at any times by the clock of the store', () => {
    let seen = first(report(1));
    for (const [index, ageMs] of [20_000, -90_000, 4_000_000, 0, -1].entries())
      seen = look(seen, 5000, report(2 + index, ageMs));
    expect(isDead(seen)).toBe(false);
  });

  it('takes nobody for dead when the clock of the store jumps between two looks', () => {
    const before = look(first(report(1)), 5000, report(1));
    for (const jumpMs of [20_000, 4_000_000, -4_000_000]) {
      const after = look(before, 5000, report(1, 5000 + jumpMs));
      expect(isDead(after)).toBe(false);
      expect(isDoubted(after)).toBe(false);
    }
  });

  it('does not count the time in which it could not look, since replicas could not report either', () => {
    const before = look(first(report(1)), 5000, report(1));
    const after = decideMembers(before, { nowMs: before.lookedAtMs + 60_000, reports: [report(1, 65_000)] });
    expect(isDead(after)).toBe(false);
    expect(isDead(look(after, 9000, report(1, 70_000)))).toBe(true);
  });

  it.each([
    ['too old', 15_000],
    ['from the future', -1],
  ])('doubts a replica whose report is %s when it first sees it, until the next report', (_, ageMs) => {
    const seen = first(report(1, ageMs));
    expect(isDoubted(seen)).toBe(true);
    expect(isDead(look(seen, 5750, report(1, ageMs)))).toBe(false);
    expect(isDead(look(seen, 6000, report(1, ageMs)))).toBe(true);
    expect(isDoubted(look(seen, 5000, report(2)))).toBe(false);
  });

  it('forgets a replica that the table does not have any more', () => {
    expect(decideMembers(first(report(1)), { nowMs: 250, reports: [] }).members).toEqual([]);
  });
});

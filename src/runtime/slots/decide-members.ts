import type { SlotReport } from './slot-table.js';
import { MEMBER_LIVES_MS, MEMBER_REPORTS_EVERY_MS } from './slot-table.js';

/** At most so much of the time between two looks counts as silence, milliseconds: a store that the leader cannot read takes no reports either. */
const GAP_COUNTS_MS = 1000;
/** A doubtful replica that lives reports within this time, milliseconds. */
const DOUBTFUL_LIVES_MS = MEMBER_REPORTS_EVERY_MS + 1000;

/** The last report of a replica, as the leader has seen it. */
export interface SeenMember extends SlotReport {
  /** For how long the leader has seen no newer report, milliseconds. */
  readonly silentMs: number;
  /**
   * When the leader saw this report first, it was too old by the store's clock, or from the future. Either the clock jumped, or the replica died
   * before this leader looked: its next report, or its silence, decides that.
   */
  readonly isDoubtful: boolean;
}

/** The reports that the leader has seen. */
export interface SeenMembers {
  /** When it last looked, monotonic clock, milliseconds. */
  readonly lookedAtMs: number;
  readonly members: readonly SeenMember[];
}

/** The leader has not looked yet. */
export const NOTHING_SEEN: SeenMembers = { lookedAtMs: Number.NEGATIVE_INFINITY, members: [] };

/**
 * The reports that the leader has seen after one more look. Silence is measured by the leader's own clock, and only while it looks: the
 * clock of the store may jump, and a store that does not answer takes no reports either. A new report ends the silence, and its time does not matter. Pure.
 */
export function decideMembers(
  before: SeenMembers,
  { nowMs, reports }: { readonly reports: readonly SlotReport[]; readonly nowMs: number },
): SeenMembers {
  const passedMs = Math.min(nowMs - before.lookedAtMs, GAP_COUNTS_MS);
  const known = new Map(before.members.map((member) => [member.replica, member]));
  const members = reports.map((report): SeenMember => {
    const last = known.get(report.replica);
    if (last?.id === report.id) return { ...last, silentMs: last.silentMs + passedMs };
    return { ...report, silentMs: 0, isDoubtful: report.ageMs < 0 || report.ageMs >= MEMBER_LIVES_MS };
  });
  return { lookedAtMs: nowMs, members };
}

/** Whether a replica counts as dead because it reports nothing: it hangs, or died where its connection cannot be seen. */
export function isSilent({ isDoubtful, silentMs }: SeenMember): boolean {
  return silentMs >= (isDoubtful ? DOUBTFUL_LIVES_MS : MEMBER_LIVES_MS);
}

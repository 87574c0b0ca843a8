import type { SlotHolders, SlotMember } from './slot-table.js';

/** A replica that holds slots, none of whose copies has become current for so long, is late, milliseconds. */
export const COPY_WITHIN_MS = 60_000;
/** A late replica is retried after this time, milliseconds. */
export const LATE_FOR_MS = 300_000;

/** How the copies of one replica come along. Times are monotonic, milliseconds. */
export interface CopyProgress {
  /** The slots whose copies are current. */
  readonly current: ReadonlySet<number>;
  /** Since when it has waited for copies without getting one; undefined: it waits for none. */
  readonly waitsSinceMs: number | undefined;
  /** Its copies do not become current, and until then others get slots in its place; undefined: it is not late. */
  readonly lateUntilMs: number | undefined;
}

/** By replica. */
export type CopiesProgress = ReadonlyMap<string, CopyProgress>;

/**
 * The progress of the copies of all replicas, from what it was and from what they report now. A replica is late if it holds slots and
 * none of their copies becomes current for {@link COPY_WITHIN_MS}: it may not list a kind, say. Large copies that come one after the other
 * are progress. It is no longer late once one of its copies becomes current, or after {@link LATE_FOR_MS}. Pure.
 */
export function decideCopiesProgress(
  before: CopiesProgress,
  {
    members,
    nowMs,
    slots,
  }: {
    readonly slots: readonly SlotHolders[];
    readonly members: readonly SlotMember[];
    readonly nowMs: number;
  },
): CopiesProgress {
  return new Map(
    members.map(({ current, replica }) => {
      const copies = new Set(current);
      const awaits = slots.some(
        ({ owner, standby }, slot) => (owner === replica || standby === replica) && !copies.has(slot),
      );
      return [replica, progressOf(before.get(replica), { copies, awaits, nowMs })];
    }),
  );
}

function progressOf(
  before: CopyProgress | undefined,
  {
    awaits,
    copies,
    nowMs,
  }: { readonly copies: ReadonlySet<number>; readonly awaits: boolean; readonly nowMs: number },
): CopyProgress {
  const hasCome = [...copies].some((slot) => before?.current.has(slot) !== true);
  const lateUntilMs = before?.lateUntilMs;
  const begins = hasCome || (lateUntilMs !== undefined && nowMs >= lateUntilMs);
  const waitsSinceMs = awaits ? ((begins ? undefined : before?.waitsSinceMs) ?? nowMs) : undefined;
  if (lateUntilMs !== undefined && !begins) return { current: copies, waitsSinceMs, lateUntilMs };
  const isLate = waitsSinceMs !== undefined && nowMs - waitsSinceMs >= COPY_WITHIN_MS;
  return { current: copies, waitsSinceMs, lateUntilMs: isLate ? nowMs + LATE_FOR_MS : undefined };
}

/** The replicas that are late, by their names. */
export function lateReplicas(progress: CopiesProgress): readonly string[] {
  return [...progress]
    .flatMap(([replica, { lateUntilMs }]) => (lateUntilMs === undefined ? [] : [replica]))
    .sort();
}

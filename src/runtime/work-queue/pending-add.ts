import type { AddTraces } from './merge-traces.js';
import { mergeTraces, parseTraceText } from './merge-traces.js';
import type { WaitingKey } from './queue-inspection.js';
import type { AddOptions, Priority, ReconcileReason } from './work-queue.js';

/**
 * The knowledge of the next run of a key before it starts. Kept beside the queue, because BullMQ drops an add that
 * meets a waiting key.
 */
export interface PendingAdd extends AddTraces {
  readonly priority: Priority;
  readonly reason: ReconcileReason;
  readonly readySinceMs: number;
}

/** Smaller ranks run first. */
export const PRIORITY_RANK: Readonly<Record<Priority, number>> = { high: 1, normal: 2, low: 3 };

export function rankOf({ priority = 'normal' }: AddOptions): number {
  return PRIORITY_RANK[priority];
}

/** The inverse of {@link PRIORITY_RANK}; anything unknown is `normal`. */
export function priorityOfRank(rank: number): Priority {
  return rank === 1 ? 'high' : rank === 3 ? 'low' : 'normal';
}

export function pendingAddOf(options: AddOptions, readySinceMs: number): PendingAdd {
  return {
    priority: options.priority ?? 'normal',
    reason: options.reason ?? 'child-change',
    readySinceMs,
    ...mergeTraces(options),
  };
}

/** A pending add for display. */
export function waitingKeyOf(key: string, { priority, readySinceMs, reason }: PendingAdd): WaitingKey {
  return { key, priority, reason, sinceMs: readySinceMs };
}

/**
 * Merges two adds of a key that become one run: it has the higher priority, with the reason and trace of that add (on a
 * tie, of the first), and links the traces of the other.
 */
export function mergeAdds<Add extends AddOptions>(first: Add, second: Add): Add {
  const overtakes = rankOf(second) < rankOf(first);
  const [kept, other] = overtakes ? [second, first] : [first, second];
  return { ...kept, ...mergeTraces(kept, other) };
}

/** {@link mergeAdds}, waiting since the earlier of the two. `lua/merge-pending-4.lua` does the same. */
export function mergePendingAdds(waiting: PendingAdd | undefined, add: PendingAdd): PendingAdd {
  if (!waiting) return add;
  return { ...mergeAdds(waiting, add), readySinceMs: Math.min(waiting.readySinceMs, add.readySinceMs) };
}

/** Whether a run that was asked for in this way deserves all retries again. A person asks for it by a `requeue`. */
export function renewsRetries(reason: ReconcileReason): boolean {
  return reason !== 'parked' && reason !== 'retry';
}

/** The add of a key that is parked. A retry that was on its way by then is the one try of a parked key. */
export function addOfParked(add: PendingAdd): PendingAdd {
  return add.reason === 'retry' ? { ...add, reason: 'parked' } : add;
}

/** Parses a pending add as stored by `lua/merge-pending-4.lua`. */
export function parsePending(json: string): PendingAdd {
  const [rank, reason, readySinceMs, traces] = JSON.parse(json) as [number, ReconcileReason, number, string];
  return {
    priority: priorityOfRank(rank),
    reason,
    readySinceMs,
    ...parseTraceText(traces),
  };
}

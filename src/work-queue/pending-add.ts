import type { AddOptions, Priority, ReconcileReason } from './work-queue.js';

/**
 * What is known about the next run of a key before it starts. Kept beside the queue, because an add that meets a
 * waiting key leaves no trace in the queue itself.
 */
export interface PendingAdd {
  readonly priority: Priority;
  readonly reason: ReconcileReason;
  readonly readySinceMs: number;
  readonly traceparent?: string;
}

/** Smaller goes first. */
export const PRIORITY_RANK: Readonly<Record<Priority, number>> = { high: 1, normal: 2, low: 3 };

/** The inverse of {@link PRIORITY_RANK}; anything unknown is `normal`. */
export function priorityOfRank(rank: number): Priority {
  return rank === 1 ? 'high' : rank === 3 ? 'low' : 'normal';
}

export function pendingAddOf(options: AddOptions, readySinceMs: number): PendingAdd {
  return {
    priority: options.priority ?? 'normal',
    reason: options.reason ?? 'child-change',
    readySinceMs,
    ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
  };
}

/**
 * Two adds of a key that become one run: the higher priority with its reason and trace (the earlier one's on a
 * tie), waiting since the earlier of the two. `lua/merge-pending-3.lua` does the same.
 */
export function mergePendingAdds(waiting: PendingAdd | undefined, add: PendingAdd): PendingAdd {
  if (!waiting) return add;
  const overtakes = PRIORITY_RANK[add.priority] < PRIORITY_RANK[waiting.priority];
  const [told, other] = overtakes ? [add, waiting] : [waiting, add];
  const traceparent = told.traceparent ?? other.traceparent;
  return {
    priority: told.priority,
    reason: told.reason,
    readySinceMs: Math.min(waiting.readySinceMs, add.readySinceMs),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

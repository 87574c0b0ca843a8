import type { AddOptions, Priority, ReconcileReason, WaitingKey } from './work-queue.js';
import { MAX_TRACE_LINKS } from './work-queue.js';

/**
 * What is known about the next run of a key before it starts. Kept beside the queue, because an add that meets a
 * waiting key leaves no trace in the queue itself.
 */
export interface PendingAdd {
  readonly priority: Priority;
  readonly reason: ReconcileReason;
  readonly readySinceMs: number;
  readonly traceparent?: string;
  /** Traces of other adds that were merged into this one, at most {@link MAX_TRACE_LINKS}. */
  readonly links?: readonly string[];
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
    ...tracesOf([options.traceparent, ...(options.links ?? [])]),
  };
}

/** A pending add as people see it. */
export function waitingKeyOf(key: string, { priority, readySinceMs, reason }: PendingAdd): WaitingKey {
  return { key, priority, reason, sinceMs: readySinceMs };
}

/**
 * Two adds of a key that become one run: the higher priority with its reason and trace (the earlier one's on a
 * tie), waiting since the earlier of the two. `lua/merge-pending-3.lua` does the same.
 */
export function mergePendingAdds(waiting: PendingAdd | undefined, add: PendingAdd): PendingAdd {
  if (!waiting) return add;
  const overtakes = PRIORITY_RANK[add.priority] < PRIORITY_RANK[waiting.priority];
  const [told, other] = overtakes ? [add, waiting] : [waiting, add];
  return {
    priority: told.priority,
    reason: told.reason,
    readySinceMs: Math.min(waiting.readySinceMs, add.readySinceMs),
    ...tracesOf([told.traceparent, ...(told.links ?? []), other.traceparent, ...(other.links ?? [])]),
  };
}

/** The first trace is the one to go on with, the others are linked, each once. */
export function tracesOf(
  traceparents: readonly (string | undefined)[],
): Pick<PendingAdd, 'traceparent' | 'links'> {
  const named = traceparents.filter((text) => text !== undefined && text !== '');
  const [traceparent, ...links] = new Set(named as string[]);
  if (traceparent === undefined) return {};
  return links.length === 0 ? { traceparent } : { traceparent, links: links.slice(0, MAX_TRACE_LINKS) };
}

/** As `lua/merge-pending-3.lua` keeps them: one text, the trace to go on with first. */
export function traceTextOf({ traceparent, links = [] }: Pick<PendingAdd, 'traceparent' | 'links'>): string {
  return [traceparent ?? '', ...links].join(' ').trim();
}

/** The inverse of {@link traceTextOf}. */
export function parseTraceText(text: string): Pick<PendingAdd, 'traceparent' | 'links'> {
  return tracesOf(text.split(' '));
}

/** A pending add as `lua/merge-pending-3.lua` keeps it. */
export function parsePending(json: string): PendingAdd {
  const [rank, reason, readySinceMs, traces] = JSON.parse(json) as [number, ReconcileReason, number, string];
  return {
    priority: priorityOfRank(rank),
    reason,
    readySinceMs,
    ...parseTraceText(traces),
  };
}

import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive, isPodReady, readyConditionOf } from '@rollkeeper/machinery/kubernetes';

type ReadablePod = DeepReadonly<Pod>;

/** Since when the pod is ready, epoch milliseconds; undefined if it is not, or has no time. */
export function podReadySinceMs(pod: ReadablePod): number | undefined {
  const condition = readyConditionOf(pod);
  return condition?.status === 'True' ? parseTimeMs(condition.lastTransitionTime) : undefined;
}

/**
 * Delay until the pod counts as available if it stays ready, in milliseconds: 0 if it does now, undefined if it is not
 * ready. A pod is available once it has been continuously ready for `minReadySeconds`.
 */
export function msUntilPodAvailable(
  pod: ReadablePod,
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds <= 0) return 0;
  const sinceMs = podReadySinceMs(pod);
  if (sinceMs === undefined) return undefined;
  const longestMs = minReadySeconds * 1000;
  // Capped at the full period: a clock that was briefly an hour behind must not make us wait for an hour.
  return Math.min(Math.max(0, sinceMs + longestMs - nowMs), longestMs);
}

export function isPodAvailable(pod: ReadablePod, minReadySeconds: number, nowMs: number): boolean {
  return msUntilPodAvailable(pod, minReadySeconds, nowMs) === 0;
}

/** Whether a Service sends requests to the pod: it is ready, and neither ending nor finished. */
export function isPodServing(pod: ReadablePod): boolean {
  return isPodActive(pod) && isPodReady(pod);
}

/** An RFC 3339 time of the API as epoch milliseconds; undefined when absent or unreadable. */
export function parseTimeMs(time: string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const epochMs = Date.parse(time);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

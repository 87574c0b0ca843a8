import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isConditionTrue, isPodReady, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from './pod-readiness.js';

type ReadablePod = DeepReadonly<Pod>;

/** Both times have whole seconds, and are from two writes. */
const SAME_MOMENT_MS = 1000;

/**
 * Since when a formerly ready pod is not ready, RFC 3339. Undefined: it has never been ready, or not for long enough to know.
 * The condition is False from the moment the kubelet accepts the pod, and keeps that time until the pod is first ready.
 */
export function readinessLostAt({ status }: Pick<ReadablePod, 'status'>): string | undefined {
  const ready = readyConditionOf({ status });
  if (!ready || ready.status === 'True') return undefined;
  const [changedMs, startedMs] = [parseTimeMs(ready.lastTransitionTime), parseTimeMs(status?.startTime)];
  if (changedMs === undefined || startedMs === undefined) return undefined;
  return changedMs - startedMs > SAME_MOMENT_MS ? ready.lastTransitionTime : undefined;
}

/** Whether the pod is ready, or was. A pod that was ready for less than a second counts as never ready. */
export function hasBeenReady(pod: ReadablePod): boolean {
  return isPodReady(pod) || readinessLostAt(pod) !== undefined;
}

/**
 * Whether the pod failed, or a component other than its owner removes it (the condition `DisruptionTarget`), before it was
 * ready. A pod that a person deletes has not died.
 */
export function diedBeforeReady(pod: ReadablePod): boolean {
  if (hasBeenReady(pod)) return false;
  if (pod.status?.phase === 'Failed') return true;
  const isLeaving = pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded';
  return isLeaving && isConditionTrue(pod.status?.conditions, 'DisruptionTarget');
}

/** When a dead pod died, epoch milliseconds: the latest time in it. A kubelet that rejects a pod records no time of its own. */
export function diedAtMs({ metadata, status }: ReadablePod): number {
  const conditions = (status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime);
  const ends = (status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt);
  const times = [metadata.creationTimestamp, ...conditions, ...ends].map((time) => parseTimeMs(time) ?? 0);
  return Math.max(...times);
}

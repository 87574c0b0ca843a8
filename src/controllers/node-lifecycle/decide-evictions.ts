import type { DeepReadonly, Pod, Taint } from '@rollkeeper/machinery/kubernetes';
import { toDouble, tolerates } from '@rollkeeper/machinery/kubernetes';

type ReadablePod = DeepReadonly<Pod>;

/** A pod that tolerates the taints of its node for some time. Times are epoch milliseconds. */
export interface ScheduledEviction {
  readonly pod: ReadablePod;
  /** When its taints were first seen: its time counts from here. */
  readonly sinceMs: number;
  readonly dueMs: number;
}

interface EvictionPlan {
  readonly evict: readonly ReadablePod[];
  /** Pods whose scheduled eviction does not take place: they or the taints have gone, or they tolerate them now. */
  readonly cancelled: readonly ReadablePod[];
  /** By the pods' UIDs. */
  readonly scheduled: ReadonlyMap<string, ScheduledEviction>;
  /** Delay until the next is due, milliseconds; absent: none. */
  readonly nextInMs?: number;
}

/**
 * The pods to evict now, and the time when the others are due. A pod without a toleration of a `NoExecute` taint is
 * evicted at once, one with a limited toleration when that has passed. The time counts from when the controller first
 * saw the pod under taints: `timeAdded` of a taint may be missing, or lie before the pod's arrival. Once an eviction is
 * scheduled, other taints and tolerations do not move it. Source: `processPodOnNode` in k/k
 * pkg/controller/tainteviction.
 */
export function decideEvictions(
  pods: readonly ReadablePod[],
  taints: readonly Taint[],
  before: ReadonlyMap<string, ScheduledEviction>,
  nowMs: number,
): EvictionPlan {
  const driving = taints.filter(({ effect }) => effect === 'NoExecute');
  const evict: ReadablePod[] = [];
  const cancelled: ReadablePod[] = [];
  const scheduled = new Map<string, ScheduledEviction>();
  for (const pod of pods) {
    const uid = pod.metadata.uid ?? '';
    const known = before.get(uid);
    const forMs = toleratesForMs(pod, driving);
    const isLeaving = pod.metadata.deletionTimestamp !== undefined;
    if (forMs === Infinity || forMs < 0) {
      if (known) cancelled.push(pod);
      if (forMs < 0 && !isLeaving) evict.push(pod);
      continue;
    }
    const { dueMs, sinceMs } = known ?? { sinceMs: nowMs, dueMs: nowMs + forMs };
    if (dueMs > nowMs || isLeaving) scheduled.set(uid, { pod, sinceMs, dueMs });
    else evict.push(pod);
  }
  const present = new Set(pods.map(({ metadata }) => metadata.uid ?? ''));
  for (const [uid, { pod }] of before) if (!present.has(uid)) cancelled.push(pod);
  const later = [...scheduled.values()].map(({ dueMs }) => dueMs - nowMs).filter((inMs) => inMs > 0);
  return { evict, cancelled, scheduled, ...(later.length > 0 && { nextInMs: Math.min(...later) }) };
}

/**
 * How long a pod tolerates all of the taints; below 0: not at all. Of each taint its first toleration counts. Source:
 * `GetMatchingTolerations` and `getMinTolerationTime`.
 */
function toleratesForMs({ spec }: ReadablePod, taints: readonly Taint[]): number {
  let leastMs = Infinity;
  for (const taint of taints) {
    const toleration = spec.tolerations?.find((each) => tolerates(each, taint));
    if (!toleration) return -1;
    const { tolerationSeconds } = toleration;
    if (tolerationSeconds !== undefined)
      leastMs = Math.min(leastMs, Math.max(0, toDouble(tolerationSeconds)) * 1000);
  }
  return leastMs;
}

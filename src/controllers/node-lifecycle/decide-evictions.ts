import type { DeepReadonly, Pod, Taint } from '@rollkeeper/machinery/kubernetes';
import { toDouble, tolerates } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

export interface EvictionPlan {
  readonly evict: readonly ReadablePod[];
  /** Delay until the next is due, milliseconds; absent: none. */
  readonly nextInMs?: number;
}

/**
 * Which pods have to be evicted now, and when the next is due. A pod without a toleration of a `NoExecute` taint is
 * evicted at once, one with a limited toleration when that has passed. The time counts from the taint. Source:
 * `processPodOnNode` in k/k pkg/controller/tainteviction.
 */
export function decideEvictions(
  pods: readonly ReadablePod[],
  taints: readonly Taint[],
  nowMs: number,
): EvictionPlan {
  const driving = taints.filter(({ effect }) => effect === 'NoExecute');
  const dues = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pod) => ({ pod, inMs: leavesInMs(pod, driving, nowMs) }));
  const evict = dues.filter(({ inMs }) => inMs <= 0).map(({ pod }) => pod);
  const later = dues.map(({ inMs }) => inMs).filter((inMs) => inMs > 0 && inMs < Infinity);
  return later.length === 0 ? { evict } : { evict, nextInMs: Math.min(...later) };
}

function leavesInMs({ spec }: ReadablePod, taints: readonly Taint[], nowMs: number): number {
  return Math.min(
    Infinity,
    ...taints.map((taint) => {
      const tolerated = (spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
      if (tolerated.length === 0) return 0;
      const seconds = tolerated.map(({ tolerationSeconds }) =>
        tolerationSeconds === undefined ? Infinity : Math.max(0, toDouble(tolerationSeconds)),
      );
      const sinceMs = parseTimeMs(taint.timeAdded) ?? nowMs;
      return Math.max(0, sinceMs + Math.min(...seconds) * 1000 - nowMs);
    }),
  );
}

import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { msUntilPodAvailable } from '../shared/index.js';

/** When the next ready pod will have been ready for `minReadySeconds`: no event of the API says so. */
export function msUntilNextAvailable(
  replicaSet: DeepReadonly<ReplicaSet>,
  active: readonly DeepReadonly<Pod>[],
  nowMs: number,
): number | undefined {
  const minReadySeconds = replicaSet.spec.minReadySeconds ?? 0;
  if (minReadySeconds === 0) return undefined;
  const waits = active
    .map((pod) => msUntilPodAvailable(pod, minReadySeconds, nowMs))
    .filter((wait) => wait !== undefined && wait > 0) as number[];
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

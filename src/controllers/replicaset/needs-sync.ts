import type { Clock } from '../../base/clock/index.js';
import type { Lister } from '../../kit/index.js';
import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { compileLabelSelector, isEmptySelector } from '../../base/kubernetes/index.js';
import { findPods } from './claim-pods.js';
import { msUntilNextAvailable } from './next-available.js';
import { decideStatus, isSameStatus } from './status.js';

export interface NeedsSyncDependencies {
  readonly replicaSets: Lister<ReplicaSet>;
  /** With ORPHAN_INDEX. */
  readonly pods: Lister<Pod>;
  readonly clock: Clock;
}

/**
 * Whether a sync of the ReplicaSet, as the caches show it, would change a pod, write the status or have something to wait
 * for. "No" means that the status tells of these very pods already: the sync that wrote it has seen them, and settled
 * with them whatever intents there were. Every later change asks for itself.
 */
export function needsSync(key: string, { clock, pods, replicaSets }: NeedsSyncDependencies): boolean {
  const replicaSet = replicaSets.get(key);
  if (!replicaSet || replicaSet.metadata.deletionTimestamp !== undefined) return true;
  const selects = selectorOf(replicaSet);
  if (!selects) return true;
  const { active, adopt, release, terminating } = findPods({ replicaSet, selects, pods });
  if (adopt.length > 0 || release.length > 0 || active.length !== (replicaSet.spec.replicas ?? 1))
    return true;
  const nowMs = clock.now();
  if (msUntilNextAvailable(replicaSet, active, nowMs) !== undefined) return true;
  const status = decideStatus({ replicaSet, active, terminating, failure: undefined, nowMs });
  return !isSameStatus(replicaSet.status, status);
}

/** Undefined where its own sync has to complain of it. */
function selectorOf({ spec }: DeepReadonly<ReplicaSet>): ReturnType<typeof compileLabelSelector> | undefined {
  if (isEmptySelector(spec.selector)) return undefined;
  try {
    return compileLabelSelector(spec.selector);
  } catch {
    return undefined;
  }
}

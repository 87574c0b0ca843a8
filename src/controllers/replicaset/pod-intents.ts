import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive } from '@rollkeeper/machinery/kubernetes';
import type { DoomedPod } from '../shared/index.js';
import { DRAINING } from '../shared/index.js';
import type { FailureSeries } from './failure-series.js';
import { parseFailureSeries } from './failure-series.js';

type ReadablePod = DeepReadonly<Pod>;

/**
 * The intents of a sync, stored before it acts, so that the next run knows what may have happened. `creates` are the
 * names of pods that may exist: their creation has no answer. One that was answered is settled by its own write, which
 * the next sync must have seen. The answer to a deletion has no version, so a deletion stays until the cache shows it.
 */
export interface PodIntents {
  readonly version: 1;
  /** UID of the ReplicaSet; intents of a deleted namesake are ignored. */
  readonly ownerUid: string;
  readonly creates: readonly string[];
  readonly deletes: readonly DoomedPod[];
  /** Deaths that the pods in the API do not show any more, or not for long. @default none */
  readonly failures?: FailureSeries;
}

/** The state according to cache and intents. */
export interface IntentsDecision {
  /** Active pods without those of a stored deletion. */
  readonly active: readonly ReadablePod[];
  /** Deletions that the cache does not show yet. */
  readonly pendingDeletes: readonly DoomedPod[];
  /**
   * Creations that the cache does not show, and deletions that are no longer wanted: only the API server knows whether
   * they happened. It must be asked before any other decision.
   */
  readonly probeCreates: readonly string[];
  readonly probeDeletes: readonly DoomedPod[];
  /**
   * The versions by which the cache shows that stored intents are settled. The next sync must have seen as much: an
   * older cache without the intents would lead it to create a second pod, or delete another one.
   */
  readonly settledBy: SettledBy;
}

interface SettledBy {
  readonly pods: readonly ReadablePod[];
  /** Also settled by a pod's absence. */
  readonly absence: boolean;
}

/** Parses stored intents; another owner or version counts as none. */
export function parsePodIntents(stored: unknown, ownerUid: string): PodIntents {
  const none: PodIntents = { version: 1, ownerUid, creates: [], deletes: [] };
  if (typeof stored !== 'object' || stored === null) return none;
  const candidate: Partial<PodIntents> = stored;
  if (candidate.version !== 1 || candidate.ownerUid !== ownerUid) return none;
  const failures = parseFailureSeries(candidate.failures);
  return {
    ...none,
    creates: candidate.creates ?? [],
    deletes: candidate.deletes ?? [],
    ...(failures && { failures }),
  };
}

export function isEmptyIntents(intents: PodIntents): boolean {
  return intents.creates.length === 0 && intents.deletes.length === 0 && !intents.failures;
}

/**
 * Applies the intents to the cached state; pure.
 *
 * A stored creation whose name is cached has happened, regardless of the pod's later fate. One that is not cached may
 * have happened: the pod may exist, or may have been deleted since. It is looked up and not simply created again, which
 * would bring a deleted pod back, past the backoff of creations. A stored deletion is done when the pod of that UID no
 * longer exists, is terminating or drains.
 *
 * Example: 5 wanted, `a` `b` `c` cached, `d` `e` stored: `d` and `e` are looked up. If `d` exists, one is to be created,
 * and it is called `e`.
 */
export function decideFromIntents(input: {
  readonly intents: PodIntents;
  readonly desired: number;
  /** The ReplicaSet's own active pods, from the cache. */
  readonly cachedActive: readonly ReadablePod[];
  /** Any pod of the namespace by name, from the cache. */
  readonly cachedPod: (name: string) => ReadablePod | undefined;
  /** UIDs of pods whose deletion the API server has confirmed to this process. */
  readonly confirmedDeletes: ReadonlySet<string>;
}): IntentsDecision {
  const { intents, desired, cachedPod, confirmedDeletes } = input;
  const isPending = ({ name, uid }: DoomedPod): boolean => {
    const pod = cachedPod(name);
    if (pod === undefined || pod.metadata.uid !== uid) return false;
    // One that drains has left in place of a deletion.
    return isPodActive(pod) && pod.metadata.labels?.[DRAINING] === undefined;
  };
  const pending = intents.deletes.filter(isPending);
  const done = intents.deletes.filter((deletion) => !isPending(deletion));
  const shown = [...intents.creates, ...done.map(({ name }) => name)].map((name) => cachedPod(name));
  const leaving = new Set(pending.map(({ uid }) => uid));
  const active = input.cachedActive.filter((pod) => !leaving.has(pod.metadata.uid ?? ''));
  const missing = desired - active.length;
  return {
    active,
    pendingDeletes: pending,
    probeCreates: intents.creates.filter((name) => cachedPod(name) === undefined),
    probeDeletes: missing > 0 ? pending.filter(({ uid }) => !confirmedDeletes.has(uid)) : [],
    settledBy: {
      pods: shown.filter((pod) => pod !== undefined),
      absence: done.some(({ name }) => cachedPod(name) === undefined),
    },
  };
}

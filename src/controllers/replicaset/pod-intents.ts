import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive } from '@rollkeeper/machinery/kubernetes';
import type { DoomedPod } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/**
 * What a sync is about to do, stored before it acts, so that the next run knows what may have happened. `creates` are the names
 * of pods that may exist although the cache does not show them yet.
 */
export interface PodIntents {
  readonly version: 1;
  /** UID of the ReplicaSet; intents of a deleted namesake are ignored. */
  readonly ownerUid: string;
  readonly creates: readonly string[];
  readonly deletes: readonly DoomedPod[];
}

/** The state according to cache and intents. */
export interface IntentsDecision {
  /** Active pods without those of a stored deletion. */
  readonly active: readonly ReadablePod[];
  /** Names to create again: wanted, and possibly existing. */
  readonly recreate: readonly string[];
  /** Deletions that the cache does not show yet. */
  readonly pendingDeletes: readonly DoomedPod[];
  /**
   * Stored, but no longer wanted: only the API server knows whether they happened. It must be asked before any other
   * decision.
   */
  readonly probeCreates: readonly string[];
  readonly probeDeletes: readonly DoomedPod[];
  /**
   * The versions by which the cache shows that stored intents are settled. The next sync must have seen as much: an
   * older cache without the intents would lead it to create a second pod, or delete another one.
   */
  readonly settledBy: SettledBy;
}

export interface SettledBy {
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
  return { ...none, creates: candidate.creates ?? [], deletes: candidate.deletes ?? [] };
}

export function isEmptyIntents(intents: PodIntents): boolean {
  return intents.creates.length === 0 && intents.deletes.length === 0;
}

/**
 * Applies the intents to the cached state; pure.
 *
 * A stored creation whose name is cached has happened, regardless of the pod's later fate. One that is not cached may or may
 * not have happened: as long as that many pods are wanted it is created again under the same name, which cannot make two. A
 * stored deletion is done when the pod of that UID no longer exists or is terminating.
 *
 * Example: 5 wanted, `a` `b` `c` cached, `d` `e` stored: recreate `d` and `e`. If only 4 were wanted now, `d` and `e` would
 * have to be looked up first; then one of five is deleted, or one is created, or nothing.
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
  const unseen = intents.creates.filter((name) => cachedPod(name) === undefined);
  const isPending = ({ name, uid }: DoomedPod): boolean => {
    const pod = cachedPod(name);
    return pod !== undefined && pod.metadata.uid === uid && isPodActive(pod);
  };
  const pending = intents.deletes.filter(isPending);
  const done = intents.deletes.filter((deletion) => !isPending(deletion));
  const shown = [...intents.creates, ...done.map(({ name }) => name)].map((name) => cachedPod(name));
  const leaving = new Set(pending.map(({ uid }) => uid));
  const active = input.cachedActive.filter((pod) => !leaving.has(pod.metadata.uid ?? ''));
  const missing = desired - active.length;
  const recreate = unseen.length <= Math.max(missing, 0) ? unseen : [];
  return {
    active,
    recreate,
    pendingDeletes: pending,
    probeCreates: recreate.length === unseen.length ? [] : unseen,
    probeDeletes: missing > 0 ? pending.filter(({ uid }) => !confirmedDeletes.has(uid)) : [],
    settledBy: {
      pods: shown.filter((pod) => pod !== undefined),
      absence: done.some(({ name }) => cachedPod(name) === undefined),
    },
  };
}

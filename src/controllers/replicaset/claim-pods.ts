import type { ApiClient, Lister } from '../../kit/index.js';
import { OWNER_UID_INDEX, isConflict, isInvalid, isNotFound } from '../../kit/index.js';
import type { DeepReadonly, LabelMatcher, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { PODS, REPLICA_SETS, isControlledBy } from '../../base/kubernetes/index.js';
import {
  ORPHAN_INDEX,
  adoptionPatch,
  decideClaims,
  isPodActive,
  isPodTerminating,
  releasePatch,
} from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/** The pods of a ReplicaSet as one sync sees them. */
export interface ClaimedPods {
  /** Owned, selected and active, the ones adopted just now included. */
  readonly active: readonly ReadablePod[];
  /** Owned, selected, being deleted and not ended. */
  readonly terminating: readonly ReadablePod[];
  /** Every pod that has the ReplicaSet as its controller, whatever its state. */
  readonly controlled: readonly ReadablePod[];
}

interface FindInput {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly selects: LabelMatcher;
  readonly pods: Lister<Pod>;
}

interface ClaimInput extends FindInput {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/**
 * Finds the ReplicaSet's pods, adopting orphans that it selects and releasing what it no longer does. Costs in
 * proportion to its own pods and the namespace's orphans, not to the pods of others.
 *
 * Before the first adoption the ReplicaSet is read past the cache: one that was deleted or replaced meanwhile
 * must not take pods that somebody orphaned on purpose.
 */
export async function claimPods(input: ClaimInput): Promise<ClaimedPods> {
  const { adopt, active, release, ...others } = findPods(input);
  const adopted = await adoptPods(input, adopt);
  await releasePods(input, release);
  return { ...others, active: [...active, ...adopted] };
}

/** The ReplicaSet's pods as the cache has them, and what is still to be adopted and released. */
export interface FoundPods extends ClaimedPods {
  readonly adopt: readonly ReadablePod[];
  readonly release: readonly ReadablePod[];
}

/** The part of {@link claimPods} that only reads. */
export function findPods({ replicaSet, selects, pods }: FindInput): FoundPods {
  const children = pods.byIndex(OWNER_UID_INDEX, replicaSet.metadata.uid ?? '');
  const controlled = children.filter((pod) => isControlledBy(pod, replicaSet));
  const orphans = pods.byIndex(ORPHAN_INDEX, replicaSet.metadata.namespace ?? '');
  const candidates = [...controlled, ...orphans].filter((pod) => isPodActive(pod));
  const { adopt, owned, release } = decideClaims({ owner: replicaSet, selects, candidates });
  return {
    active: owned,
    terminating: controlled.filter((pod) => isPodTerminating(pod) && selects(pod.metadata.labels)),
    controlled,
    adopt,
    release,
  };
}

async function adoptPods(input: ClaimInput, orphans: readonly ReadablePod[]): Promise<ReadablePod[]> {
  if (orphans.length === 0 || !(await mayAdopt(input))) return [];
  const { replicaSet } = input;
  const owner = { ...replicaSet, apiVersion: 'apps/v1', kind: 'ReplicaSet' };
  const adopted = await patchAll(input, orphans, (pod) => adoptionPatch(owner, pod));
  return orphans.filter((_, index) => adopted[index]);
}

async function releasePods(input: ClaimInput, strangers: readonly ReadablePod[]): Promise<void> {
  await patchAll(input, strangers, (pod) => releasePatch(input.replicaSet, pod));
}

async function mayAdopt({ replicaSet, client, signal }: ClaimInput): Promise<boolean> {
  const { namespace, name, uid } = replicaSet.metadata;
  try {
    const fresh = await client.get<ReplicaSet>(REPLICA_SETS, { namespace, name }, { signal });
    return fresh.metadata.uid === uid && fresh.metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/**
 * Patches every pod and tells which patches took. A pod that is gone, was replaced, or has another owner by now is
 * simply not ours to patch; its own event says what to do next. Any other failure fails the sync, after all ended.
 */
async function patchAll(
  { client, signal }: ClaimInput,
  pods: readonly ReadablePod[],
  patchFor: (pod: ReadablePod) => unknown,
): Promise<boolean[]> {
  const results = await Promise.allSettled(
    pods.map((pod) =>
      client.patch<Pod>(
        PODS,
        { namespace: pod.metadata.namespace, name: pod.metadata.name },
        { type: 'strategic', body: patchFor(pod) },
        { signal },
      ),
    ),
  );
  return results.map((result) => {
    if (result.status === 'fulfilled') return true;
    if (isNotFound(result.reason) || isConflict(result.reason) || isInvalid(result.reason)) return false;
    throw result.reason;
  });
}

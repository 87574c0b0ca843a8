import type { ApiClient, Lister } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX } from '@rollkeeper/runtime';
import type { DeepReadonly, LabelMatcher, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Pod, isControlledBy, isPodActive, isPodTerminating } from '@rollkeeper/machinery/kubernetes';
import type { ChildClaim } from '../shared/index.js';
import { ORPHAN_INDEX, claimChildren, decideClaims } from '../shared/index.js';
import type { ReplicatedKind } from './replicated-kind.js';
import { asOwner } from './replicated-kind.js';

type ReadablePod = DeepReadonly<Pod>;

/** The pods of a ReplicaSet as one sync sees them. */
export interface ClaimedPods {
  /** Owned, selected and active, including those just adopted. */
  readonly active: readonly ReadablePod[];
  /** Owned, selected, being deleted and not ended. */
  readonly terminating: readonly ReadablePod[];
  /** Every pod controlled by the ReplicaSet, in any state. */
  readonly controlled: readonly ReadablePod[];
}

interface FindInput {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly selects: LabelMatcher;
  readonly pods: Lister<Pod>;
}

interface ClaimInput extends FindInput {
  readonly replicated: ReplicatedKind;
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/**
 * Finds the ReplicaSet's pods, adopts orphans that it selects and releases those it no longer does. Its cost depends on
 * its own pods and the namespace's orphans, not on others' pods.
 */
export async function claimPods(input: ClaimInput): Promise<ClaimedPods> {
  const { adopt, active, release, ...others } = findPods(input);
  const { client, replicaSet, replicated, signal } = input;
  const owner = asOwner(replicated, replicaSet);
  const claim: ChildClaim<Pod> = { owner, ownerKind: replicated.kind, childKind: Pod, client, signal };
  const adopted = await claimChildren(claim, { adopt, release });
  return { ...others, active: [...active, ...adopted] };
}

/** The ReplicaSet's cached pods, and those to adopt and release. */
interface FoundPods extends ClaimedPods {
  readonly adopt: readonly ReadablePod[];
  readonly release: readonly ReadablePod[];
}

/** The read-only part of {@link claimPods}. */
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

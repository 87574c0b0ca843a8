import type { DeepReadonly, KubernetesObject, OwnerReference } from '../../base/kubernetes/index.js';
import { apiVersionOf } from '../../base/kubernetes/index.js';
import type { PersistentVolumeClaim } from '../../kit/index.js';
import { Pod, StatefulSet } from '../../kit/index.js';
import type { ReadablePod, ReadableSet } from './identity.js';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type References = readonly DeepReadonly<OwnerReference>[];

/**
 * With whom a claim goes, by the set's `persistentVolumeClaimRetentionPolicy`: with the set, with a pod that is one too many, or
 * with nobody. Undefined where that is so already.
 * Source: `updateClaimOwnerRefForSetAndPod` in k/k pkg/controller/statefulset.
 * @param isCondemned the pod goes because the set has become smaller
 */
export function decideClaimOwners(
  claim: Claim,
  set: ReadableSet,
  pod: ReadablePod,
  { isCondemned }: { readonly isCondemned: boolean },
): References | undefined {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const withPod = whenScaled === 'Delete' && isCondemned;
  const withSet = whenDeleted === 'Delete' && !withPod;
  const before = claim.metadata.ownerReferences ?? [];
  const others = before.filter(({ uid }) => uid !== set.metadata.uid && uid !== pod.metadata.uid);
  const isRight = (owner: DeepReadonly<KubernetesObject>, wanted: boolean): boolean =>
    before.some(({ uid }) => uid === owner.metadata.uid) === wanted;
  if (isRight(set, withSet) && isRight(pod, withPod)) return undefined;
  return [
    ...others,
    ...(withSet ? [referenceTo(set, StatefulSet)] : []),
    ...(withPod ? [referenceTo(pod, Pod)] : []),
  ];
}

/** Whether the claim goes with a former pod of that name, so that a new pod must wait for a new claim. */
export function isStale(claim: Claim, set: ReadableSet): boolean {
  if (claim.metadata.deletionTimestamp !== undefined) return true;
  return (claim.metadata.ownerReferences ?? []).some(
    ({ kind, uid }) => kind === Pod.kind && uid !== set.metadata.uid,
  );
}

function referenceTo(
  { metadata }: DeepReadonly<KubernetesObject>,
  kind: typeof StatefulSet | typeof Pod,
): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name: metadata.name, uid: metadata.uid ?? '' };
}

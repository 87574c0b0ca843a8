import { isControlledBy } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ReadablePod } from '../../framework/node-info.js';
import type { ReadableClaim, ResourceClaim } from './resource-api.js';

/** How many pods may share a claim. */
const MOST_USERS = 256;

/** The pod's resource claims; a text where one of them is not there or not the pod's. */
export function claimsOf(pod: ReadablePod, view: ClusterView): readonly ReadableClaim[] | string {
  const { name: podName, namespace = '' } = pod.metadata;
  const claims: ReadableClaim[] = [];
  for (const { name, resourceClaimName, resourceClaimTemplateName } of pod.spec.resourceClaims ?? []) {
    const generated = pod.status?.resourceClaimStatuses?.find((each) => each.name === name);
    if (!resourceClaimName && resourceClaimTemplateName && !generated)
      return `pod "${namespace}/${podName}": ResourceClaim not created yet`;
    const claimName = resourceClaimName ?? generated?.resourceClaimName;
    // The template gave none: there is nothing to wait for.
    if (claimName === undefined) continue;
    const claim = view.get<ResourceClaim>('resource.k8s.io/resourceclaims', { namespace, name: claimName });
    if (!claim) return `resourceclaim.resource.k8s.io "${claimName}" not found`;
    if (claim.metadata.deletionTimestamp !== undefined)
      return `resourceclaim "${claimName}" is being deleted`;
    if (!resourceClaimName && !isControlledBy(claim, pod))
      return `ResourceClaim ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`;
    claims.push(claim);
  }
  return claims;
}

export function isReservedFor({ status }: ReadableClaim, { metadata }: ReadablePod): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === metadata.uid) ?? false;
}

/** Allocated, and no further pod may use it. */
export function isInUse(claim: ReadableClaim, pod: ReadablePod): boolean {
  return (
    claim.status?.allocation !== undefined &&
    (claim.status.reservedFor ?? []).length >= MOST_USERS &&
    !isReservedFor(claim, pod)
  );
}

/** No pod but this one has it. */
export function isFreeFor({ status }: ReadableClaim, { metadata }: ReadablePod): boolean {
  return (status?.reservedFor ?? []).every(({ uid }) => uid === metadata.uid);
}

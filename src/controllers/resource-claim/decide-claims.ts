import type { DeepReadonly, OwnerReference, Pod } from '@rollkeeper/machinery/kubernetes';
import { writableCopy, isControlledBy, isPodFinished } from '@rollkeeper/machinery/kubernetes';
import { newControllerRef, typeMeta, ResourceClaim } from '@rollkeeper/runtime';
import type { ResourceClaimTemplate } from '@rollkeeper/runtime';

type ReadablePod = DeepReadonly<Pod>;
type ReadableClaim = DeepReadonly<ResourceClaim>;
type Template = DeepReadonly<ResourceClaimTemplate>;
type PodClaim = NonNullable<ReadablePod['spec']['resourceClaims']>[number];

/** On a claim made of a template: the name that it has in its pod. */
export const POD_CLAIM_NAME = 'resource.kubernetes.io/pod-claim-name';
/** Keeps an allocated claim. */
export const DELETE_PROTECTION = 'resource.kubernetes.io/delete-protection';
/** How many pods may share a claim. */
const MOST_CONSUMERS = 256;
/** The longest base that leaves room for five random characters in a name of 63. */
const LONGEST_BASE = 57;

/** The step that a pod's entry of `resourceClaims` needs. Source: handleClaim in k/k pkg/controller/resourceclaim. */
type PodClaimStep =
  | { readonly action: 'nothing' }
  /** The claim is there, and its name has to be recorded. */
  | { readonly action: 'record'; readonly claimName: string }
  | { readonly action: 'create'; readonly claim: ResourceClaim }
  /** Until its template is there. */
  | { readonly action: 'wait'; readonly why: string };

/** The facts of the claims of one pod, looked up once for all of its entries, of which there may be thousands. */
interface ClaimsOfPod {
  /** The record of each entry in the pod's status. */
  readonly recorded: ReadonlyMap<string, string | undefined>;
  /** Names of the claims that the pod controls. */
  readonly own: ReadonlySet<string>;
  /** These names by the entry that each was made for. */
  readonly made: ReadonlyMap<string, string>;
}

/** @param claims those of the pod's namespace */
export function claimsOfPod(pod: ReadablePod, claims: readonly ReadableClaim[]): ClaimsOfPod {
  const own = claims.filter((claim) => isControlledBy(claim, pod)).map(({ metadata }) => metadata);
  const entries = own.map(({ annotations, name }) => [annotations?.[POD_CLAIM_NAME], name] as const);
  const made = entries.flatMap(([entry, name]) => (entry === undefined ? [] : [[entry, name] as const]));
  return {
    recorded: recordedClaims(pod.status),
    own: new Set(own.map(({ name }) => name)),
    made: new Map(made.reverse()),
  };
}

function recordedClaims(status: ReadablePod['status']): ReadonlyMap<string, string | undefined> {
  return new Map(
    (status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName]),
  );
}

export function decidePodClaim(
  pod: ReadablePod,
  { name, resourceClaimTemplateName }: PodClaim,
  { made, own, recorded }: ClaimsOfPod,
  template: Template | undefined,
): PodClaimStep {
  if (!resourceClaimTemplateName) return { action: 'nothing' };
  const known = recorded.get(name);
  if (recorded.has(name) && !known) return { action: 'nothing' };
  if (known && own.has(known)) return { action: 'nothing' };
  // It may have been made without being recorded.
  const claimName = made.get(name);
  if (claimName !== undefined) return { action: 'record', claimName };
  if (!template) return { action: 'wait', why: missing(resourceClaimTemplateName) };
  return { action: 'create', claim: newClaim(pod, name, template) };
}

function missing(template: string): string {
  return `resource claim template "${template}": resourceclaimtemplate.resource.k8s.io "${template}" not found`;
}

function newClaim(pod: ReadablePod, podClaim: string, { spec }: Template): ResourceClaim {
  const { annotations, labels } = spec.metadata ?? {};
  return {
    ...typeMeta(ResourceClaim),
    metadata: {
      name: '',
      generateName: generatedBase(pod.metadata.name, podClaim),
      namespace: pod.metadata.namespace,
      ...(labels && { labels: { ...labels } }),
      annotations: { ...annotations, [POD_CLAIM_NAME]: podClaim },
      // A claim does not hold up the foreground deletion of its pod.
      ownerReferences: [withoutBlocking(newControllerRef(pod))],
    },
    spec: writableCopy<ResourceClaim['spec']>(spec.spec),
  };
}

function withoutBlocking({ blockOwnerDeletion: _, ...reference }: OwnerReference): OwnerReference {
  return reference;
}

/** `POD-CLAIM-`, with both cut in proportion where it is too long. */
function generatedBase(pod: string, podClaim: string): string {
  const whole = `${pod}-${podClaim}-`;
  if (whole.length <= LONGEST_BASE) return whole;
  const cut = (text: string): string =>
    text.slice(0, Math.floor((text.length * LONGEST_BASE) / whole.length));
  return `${cut(pod)}-${cut(podClaim)}`;
}

/** The claims of a pod on a node that it uses without being known as their consumer. Source: syncPod. */
export function claimsToReserve(
  pod: ReadablePod,
  claims: readonly ReadableClaim[],
): readonly ReadableClaim[] {
  if (!pod.spec.nodeName) return [];
  const names = new Set(claimNamesOfPod(pod));
  return claims.filter(({ metadata, status }) => {
    const { reservedFor = [] } = status ?? {};
    return (
      names.has(metadata.name) &&
      status?.allocation !== undefined &&
      reservedFor.length < MOST_CONSUMERS &&
      !reservedFor.some(({ uid }) => uid === pod.metadata.uid)
    );
  });
}

/** The names of the claims that a pod uses, as far as they are known; that of its extended resources is the scheduler's. */
export function claimNamesOfPod({ spec, status }: ReadablePod): readonly string[] {
  const recorded = recordedClaims(status);
  const own = (spec.resourceClaims ?? []).flatMap(
    ({ name, resourceClaimName }) => resourceClaimName ?? recorded.get(name) ?? [],
  );
  return [...own, ...extendedClaimName(status)];
}

function extendedClaimName(status: ReadablePod['status']): readonly string[] {
  const { resourceClaimName } = status?.extendedResourceClaimStatus ?? {};
  return resourceClaimName === undefined ? [] : [resourceClaimName];
}

/** Whether a pod has claims, or may come to have some. */
export function hasClaims({ spec, status }: ReadablePod): boolean {
  return (spec.resourceClaims ?? []).length > 0 || extendedClaimName(status).length > 0;
}

export interface ClaimUpkeep {
  /** The consumers that are left. */
  readonly reservedFor: NonNullable<NonNullable<ReadableClaim['status']>['reservedFor']>;
  /** Nothing uses it any more: its devices are released. */
  readonly isDeallocated: boolean;
  /** Its finalizer goes. */
  readonly isReleased: boolean;
  /** It was made for a pod that has ended. */
  readonly isDeleted: boolean;
}

/**
 * The step that a claim needs; undefined for none. Source: syncClaim.
 * @param podOf the pod of a consumer; undefined if it no longer exists
 */
export function decideUpkeep(
  claim: ReadableClaim,
  podOf: (name: string) => ReadablePod | undefined,
): ClaimUpkeep | undefined {
  const { deletionTimestamp, finalizers = [] } = claim.metadata;
  const { allocation, reservedFor = [] } = claim.status ?? {};
  const valid = reservedFor.filter(({ apiGroup, name, resource, uid }) => {
    if (apiGroup || resource !== 'pods') return true;
    const pod = podOf(name);
    return pod !== undefined && pod.metadata.uid === uid && !isDone(pod);
  });
  const isProtected = finalizers.includes(DELETE_PROTECTION);
  const wasReleased = valid.length === 0 && reservedFor.length > 0;
  const isGoing = deletionTimestamp !== undefined && valid.length === 0;
  const isReleased = isProtected && (wasReleased || isGoing);
  const owner = claim.metadata.ownerReferences?.find(({ controller, kind }) => controller && kind === 'Pod');
  const ownerPod = owner && podOf(owner.name);
  const isDeleted =
    deletionTimestamp === undefined &&
    valid.length === 0 &&
    ownerPod !== undefined &&
    ownerPod.metadata.uid === owner?.uid &&
    isDone(ownerPod);
  if (valid.length === reservedFor.length && !isReleased && !isDeleted) return undefined;
  return { reservedFor: valid, isDeallocated: isReleased && allocation !== undefined, isReleased, isDeleted };
}

/** A pod that will not run any more. Source: isPodDone. */
export function isDone(pod: ReadablePod): boolean {
  return isPodFinished(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec.nodeName);
}

import type {
  DeepReadonly,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '@rollkeeper/machinery/kubernetes';
import {
  BIND_COMPLETED,
  NO_PROVISIONER,
  claimNamesOf,
  ephemeralClaimName,
  findVolume,
  isControlledBy,
  isWithinReach,
  storageClassNameOf,
} from '@rollkeeper/machinery/kubernetes';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;
type Class = DeepReadonly<StorageClass>;
type ReadableNode = DeepReadonly<Node>;

/** The storage objects of a cluster. */
export interface StorageView {
  claim(namespace: string, name: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  volumes(): readonly Volume[];
  storageClass(name: string): Class | undefined;
}

/** What the claims of a pod require of its node. */
export interface VolumeNeeds {
  /** Undefined for a missing volume. */
  readonly bound: readonly (Volume | undefined)[];
  /** Claims that are bound once a node has been chosen. */
  readonly delayed: readonly Claim[];
}

/** How a claim gets its volume: an existing one, or one provisioned after the node is chosen. */
export interface ClaimPlan {
  readonly claim: Claim;
  /** Absent: it is provisioned. */
  readonly volume?: Volume;
}

const NOTHING: VolumeNeeds = { bound: [], delayed: [] };

/**
 * The requirements of a pod's claims, or why it cannot be scheduled at all. Source: `PreFilter` in k/k
 * pkg/scheduler/framework/plugins/volumebinding.
 */
export function volumeNeedsOf(
  pod: DeepReadonly<Pod>,
  storage: StorageView,
): VolumeNeeds | { readonly unschedulable: string } {
  const names = claimNamesOf(pod);
  if (names.length === 0) return NOTHING;
  const claims: Claim[] = [];
  for (const name of names) {
    const claim = storage.claim(pod.metadata.namespace ?? '', name);
    const obstacle = claim ? obstacleOf(claim, pod) : absenceOf(pod, name);
    if (!claim || obstacle !== undefined) return { unschedulable: obstacle ?? '' };
    claims.push(claim);
  }
  const unbound = claims.filter((claim) => !isFullyBound(claim));
  const delayed = unbound.filter((claim) => isDelayed(claim, storage));
  if (delayed.length < unbound.length)
    return { unschedulable: 'pod has unbound immediate PersistentVolumeClaims' };
  const bound = claims.filter(isFullyBound).map(({ spec }) => storage.volume(spec.volumeName ?? ''));
  return { bound, delayed };
}

/** Why the pod's volumes are not available on the node, in kube-scheduler's words. Source: `FindPodVolumes`. */
export function volumeObstacleOn(
  node: ReadableNode,
  { bound, delayed }: VolumeNeeds,
  storage: StorageView,
): string | undefined {
  if (bound.some((volume) => !volume))
    return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
  if (bound.some((volume) => volume && !isWithinReach(volume, node)))
    return 'node(s) had volume node affinity conflict';
  const plans = planVolumes(node, delayed, storage);
  return plans ? undefined : "node(s) didn't find available persistent volumes to bind";
}

/** How the claims get volumes on the node; undefined if one of them cannot. */
export function planVolumes(
  node: ReadableNode,
  delayed: readonly Claim[],
  storage: StorageView,
): readonly ClaimPlan[] | undefined {
  const taken = new Set<string>();
  const plans: ClaimPlan[] = [];
  for (const claim of delayed) {
    const volume = findVolume(claim, storage.volumes(), { node, taken });
    if (volume) taken.add(volume.metadata.name);
    else if (!isMadeOn(node, storage.storageClass(storageClassNameOf(claim) ?? ''))) return undefined;
    plans.push({ claim, ...(volume && { volume }) });
  }
  return plans;
}

function obstacleOf(claim: Claim, pod: DeepReadonly<Pod>): string | undefined {
  const { metadata, spec, status } = claim;
  const { name, namespace } = metadata;
  if (status?.phase === 'Lost')
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${spec.volumeName ?? ''}"`;
  if (metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (!isEphemeral(pod, name) || isControlledBy(claim, pod)) return undefined;
  return `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`;
}

function absenceOf(pod: DeepReadonly<Pod>, claim: string): string {
  return isEphemeral(pod, claim)
    ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${claim}"`
    : `persistentvolumeclaim "${claim}" not found`;
}

function isEphemeral({ metadata, spec }: DeepReadonly<Pod>, claim: string): boolean {
  return (spec.volumes ?? []).some(
    ({ ephemeral, name }) => ephemeral && ephemeralClaimName(metadata.name, name) === claim,
  );
}

function isFullyBound({ metadata, spec }: Claim): boolean {
  return Boolean(spec.volumeName) && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

/** A claim that names its volume only waits for that volume. */
function isDelayed(claim: Claim, storage: StorageView): boolean {
  if (claim.spec.volumeName) return false;
  const storageClass = storage.storageClass(storageClassNameOf(claim) ?? '');
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

function isMadeOn({ metadata }: ReadableNode, storageClass: Class | undefined): boolean {
  if (!storageClass || storageClass.provisioner === NO_PROVISIONER) return false;
  const { allowedTopologies = [] } = storageClass;
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(metadata.labels?.[key] ?? '')),
  );
}

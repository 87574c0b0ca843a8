import type { DecodedObject } from './decoded.js';
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  PersistentVolumeSpec,
  PersistentVolumeStatus,
} from '../generated/types/core-v1.js';
import type * as storageV1 from '../generated/types/storage-v1.js';
import type { DeepReadonly, KubernetesObject, Pod } from './objects.js';

/** Volumes and claims: the vocabulary shared by the API server, the controllers and the nodes. */

export interface PersistentVolumeClaim extends KubernetesObject {
  spec: PersistentVolumeClaimSpec;
  status?: PersistentVolumeClaimStatus;
}

export interface PersistentVolume extends KubernetesObject {
  spec: PersistentVolumeSpec;
  status?: PersistentVolumeStatus;
}

export type StorageClass = KubernetesObject &
  Pick<
    storageV1.StorageClass,
    | 'allowVolumeExpansion'
    | 'allowedTopologies'
    | 'mountOptions'
    | 'parameters'
    | 'provisioner'
    | 'reclaimPolicy'
    | 'volumeBindingMode'
  >;

/** Finalizer: keeps a claim until no pod uses it any more. */
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
/** Finalizer: keeps a volume while it is bound. */
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';

/** Annotation of a claim: both sides of its binding have been written once. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** Annotation of either side: the controller chose the partner, so the binding may be undone. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** Annotation of a volume: the provisioner that made it and deletes it. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Annotation of a claim, set by the scheduler: the node of its first pod. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Annotation of a claim: the provisioner that should create its volume. */
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';

export const DEFAULT_STORAGE_CLASS = 'storageclass.kubernetes.io/is-default-class';
export const BETA_DEFAULT_STORAGE_CLASS = 'storageclass.beta.kubernetes.io/is-default-class';

/** The provisioner of the class `standard`; its volumes hold no data. */
export const SIMULATED_PROVISIONER = 'simulator.rollkeeper.dev/volumes';
/** The CSI driver of simulated volumes that are attached to nodes. */
export const SIMULATED_CSI_DRIVER = 'simulator.rollkeeper.dev';
/** Finalizer of a VolumeAttributesClass that is in use. */
export const VOLUME_ATTRIBUTES_CLASS_PROTECTION = 'kubernetes.io/vac-protection';
/** The provisioner of classes whose volumes are created by hand. */
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

const BETA_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';

/** The class of a claim or a volume: empty for none, undefined if a claim leaves it to the default. */
export function storageClassNameOf({
  metadata,
  spec,
}: DeepReadonly<DecodedObject<PersistentVolumeClaim | PersistentVolume>>): string | undefined {
  return metadata.annotations?.[BETA_STORAGE_CLASS] ?? spec?.storageClassName;
}

/** The default class: the most recently created one, on a tie the first by name. */
export function newestDefault<T extends DeepReadonly<KubernetesObject>>(
  classes: readonly T[],
  annotations: readonly string[] = [DEFAULT_STORAGE_CLASS, BETA_DEFAULT_STORAGE_CLASS],
): T | undefined {
  const born = ({ metadata }: T): number => Date.parse(metadata.creationTimestamp ?? '');
  const [newest] = classes
    .filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === 'true'))
    .sort((a, b) => born(b) - born(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  return newest;
}

/** The names of the claims used by a pod, in its namespace. */
export function claimNamesOf({ metadata, spec }: DeepReadonly<Pod>): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ ephemeral, name, persistentVolumeClaim }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [ephemeralClaimName(metadata.name, name)] : [];
  });
}

/** The name of the claim for a pod's ephemeral volume. */
export function ephemeralClaimName(pod: string, volume: string): string {
  return `${pod}-${volume}`;
}

import type { DecodedObject } from './decoded.js';
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  PersistentVolumeSpec,
  PersistentVolumeStatus,
} from '../generated/types/core-v1.js';
import type * as storageV1 from '../generated/types/storage-v1.js';
import type { DeepReadonly, KubernetesObject, Pod } from './objects.js';

/** Volumes and the claims to them: the words that the API server, the controllers and the nodes share. */

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

/** Keeps a claim until no pod uses it any more. */
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
/** Keeps a volume for as long as it is bound. */
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';

/** Annotation of a claim: both sides of its binding have been written once. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** Annotation of either side: nobody asked for this very partner, so it may be given up. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** Annotation of a volume: who made it, and so takes it away. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Annotation of a claim, written by the scheduler: where its first pod shall run. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Annotation of a claim: who shall make its volume. */
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';

export const DEFAULT_STORAGE_CLASS = 'storageclass.kubernetes.io/is-default-class';
export const BETA_DEFAULT_STORAGE_CLASS = 'storageclass.beta.kubernetes.io/is-default-class';

/** Makes volumes that hold nothing: the provisioner of the class `standard`. */
export const SIMULATED_PROVISIONER = 'simulator.rollkeeper.dev/volumes';
/** The name in classes whose volumes people make themselves. */
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

const BETA_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';

/** The class of a claim or a volume: empty for none, undefined where a claim leaves it to the default. */
export function storageClassNameOf({
  metadata,
  spec,
}: DeepReadonly<DecodedObject<PersistentVolumeClaim | PersistentVolume>>): string | undefined {
  return metadata.annotations?.[BETA_STORAGE_CLASS] ?? spec?.storageClassName;
}

/** The default class: of several the one that was made last, of equally old ones the first by name. */
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

/** The names of the claims that a pod uses, in its namespace. */
export function claimNamesOf({ metadata, spec }: DeepReadonly<Pod>): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ ephemeral, name, persistentVolumeClaim }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [ephemeralClaimName(metadata.name, name)] : [];
  });
}

/** How the claim of a pod's ephemeral volume is called. */
export function ephemeralClaimName(pod: string, volume: string): string {
  return `${pod}-${volume}`;
}

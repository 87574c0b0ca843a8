import type { DeepReadonly, PersistentVolumeClaim } from '@rollkeeper/machinery/kubernetes';
import {
  PROVISIONED_BY,
  SELECTED_NODE,
  SIMULATED_CSI_DRIVER,
  SIMULATED_PROVISIONER,
  STORAGE_PROVISIONER,
  nanosOf,
  storageClassNameOf,
} from '@rollkeeper/machinery/kubernetes';
import type { StorageClass } from '@rollkeeper/runtime';
import { PersistentVolume, PersistentVolumeClaim as CLAIM, typeMeta } from '@rollkeeper/runtime';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;
type Class = DeepReadonly<StorageClass>;

/** The folder of the volumes, if a node had any. */
const FOLDER = '/var/lib/rollkeeper/volumes';

/** Parameter of a class, `true`: its volumes are attached to nodes, as those of a CSI driver. */
const ATTACH = 'attach';

type ClaimDecision =
  | { readonly action: 'make'; readonly volume: PersistentVolume }
  | { readonly action: 'refuse'; readonly why: string }
  /** The claim has become larger than its volume. */
  | { readonly action: 'grow'; readonly size: string | number }
  | { readonly action: 'nothing' };

/**
 * The action of the simulated storage for a claim. Source: the contract of external provisioners and resizers, in the
 * words of kubernetes-csi's.
 * @param storageClass the one that the claim names, if it exists
 * @param volume the one that the claim names, if it exists
 */
export function decideForClaim(
  claim: Claim,
  storageClass: Class | undefined,
  volume: Volume | undefined,
): ClaimDecision {
  const { metadata, spec } = claim;
  if (metadata.deletionTimestamp !== undefined) return { action: 'nothing' };
  if (spec.volumeName) return decideGrowth(claim, storageClass, volume);
  const isAsked = metadata.annotations?.[STORAGE_PROVISIONER] === SIMULATED_PROVISIONER;
  if (!isAsked || storageClass?.provisioner !== SIMULATED_PROVISIONER) return { action: 'nothing' };
  const isDelayed = storageClass.volumeBindingMode === 'WaitForFirstConsumer';
  if (isDelayed && metadata.annotations[SELECTED_NODE] === undefined) return { action: 'nothing' };
  if (spec.selector) return { action: 'refuse', why: 'claim Selector is not supported' };
  return { action: 'make', volume: newVolume(claim, storageClass) };
}

function decideGrowth(
  { metadata, spec, status }: Claim,
  storageClass: Class | undefined,
  volume: Volume | undefined,
): ClaimDecision {
  const wanted = spec.resources?.requests?.['storage'];
  const isOurs = volume?.metadata.annotations?.[PROVISIONED_BY] === SIMULATED_PROVISIONER;
  const isBound = status?.phase === 'Bound' && volume?.spec.claimRef?.uid === metadata.uid;
  if (wanted === undefined || !isOurs || !isBound || !storageClass?.allowVolumeExpansion)
    return { action: 'nothing' };
  return nanosOf(wanted) > nanosOf(status.capacity?.['storage'])
    ? { action: 'grow', size: wanted }
    : { action: 'nothing' };
}

/** Whether to delete a volume. */
export function isToBeDeleted({ metadata, spec, status }: Volume): boolean {
  return (
    metadata.annotations?.[PROVISIONED_BY] === SIMULATED_PROVISIONER &&
    metadata.deletionTimestamp === undefined &&
    spec.persistentVolumeReclaimPolicy === 'Delete' &&
    status?.phase === 'Released'
  );
}

/** The name of a claim's volume: deterministic, so that retries create the same one. */
function volumeNameOf({ metadata }: Claim): string {
  return `pvc-${metadata.uid}`;
}

function newVolume(claim: Claim, storageClass: Class): PersistentVolume {
  const { name, namespace, resourceVersion, uid } = claim.metadata;
  const { accessModes = [], resources, volumeMode } = claim.spec;
  const className = storageClassNameOf(claim);
  return {
    ...typeMeta(PersistentVolume),
    metadata: { name: volumeNameOf(claim), annotations: { [PROVISIONED_BY]: SIMULATED_PROVISIONER } },
    spec: {
      accessModes: [...accessModes],
      capacity: { storage: resources?.requests?.['storage'] ?? '0' },
      claimRef: { ...typeMeta(CLAIM), name, namespace, resourceVersion, uid },
      ...(storageClass.parameters?.[ATTACH] === 'true'
        ? { csi: { driver: SIMULATED_CSI_DRIVER, volumeHandle: uid ?? '' } }
        : { hostPath: { path: `${FOLDER}/${namespace}/${name}`, type: 'DirectoryOrCreate' } }),
      ...(storageClass.mountOptions && { mountOptions: [...storageClass.mountOptions] }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      ...(className !== undefined && { storageClassName: className }),
      ...(volumeMode !== undefined && { volumeMode }),
    },
  };
}

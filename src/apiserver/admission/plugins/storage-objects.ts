import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
} from '@rollkeeper/machinery/types/core-v1';
import type {
  Decoded,
  DecodedObject,
  StorageClass,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import { nanosOf, storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';

/**
 * Protects volumes and claims in use from deletion: their controller removes the finalizer. Source:
 * StorageObjectInUseProtection.
 */
export function protectStorageObject({ metadata }: UnstructuredObject, finalizer: string): void {
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}

/**
 * Refuses to grow a claim whose class does not allow expansion. Source: PersistentVolumeClaimResize.
 * @throws StatusError
 */
export function checkClaimGrowth(
  attributes: WriteAttributes,
  classNamed: (name: string) => Readonly<DecodedObject<StorageClass>> | undefined,
): void {
  const { object, oldObject } = attributes;
  if (!oldObject || sizeOf(object) <= sizeOf(oldObject)) return;
  const { phase } = (oldObject['status'] ?? {}) as Decoded<PersistentVolumeClaimStatus>;
  if (phase !== 'Bound') throw refused(attributes, 'Only bound persistent volume claims can be expanded');
  const name = storageClassNameOf(object) ?? '';
  if (classNamed(name)?.allowVolumeExpansion === true) return;
  throw refused(
    attributes,
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
}

function sizeOf({ spec }: Readonly<UnstructuredObject>): bigint {
  return nanosOf((spec as Decoded<PersistentVolumeClaimSpec> | undefined)?.resources?.requests?.['storage']);
}

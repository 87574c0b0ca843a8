import type {
  DecodedObject,
  PersistentVolumeClaim,
  StorageClass,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import { nanosOf, objectOfKind, storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
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
  const { phase } = objectOfKind<DecodedObject<PersistentVolumeClaim>>(oldObject).status ?? {};
  if (phase !== 'Bound') throw refused(attributes, 'Only bound persistent volume claims can be expanded');
  const name = storageClassNameOf(object) ?? '';
  if (classNamed(name)?.allowVolumeExpansion === true) return;
  throw refused(
    attributes,
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
}

function sizeOf(object: Readonly<UnstructuredObject>): bigint {
  const { spec } = objectOfKind<DecodedObject<PersistentVolumeClaim>>(object);
  return nanosOf(spec?.resources?.requests?.['storage']);
}

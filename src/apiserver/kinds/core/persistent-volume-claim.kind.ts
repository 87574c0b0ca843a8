import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown, wide } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { accessModesText, validateClaimSpec } from '../volumes/claim-spec.js';
import { validateClaimStatus, validateClaimUpdate } from './persistent-volume-claim.validation.js';
import { defaultClaimSpec } from '@rollkeeper/machinery/defaults';

type Claim = DecodedObject<PersistentVolumeClaim>;

/** Source: pkg/registry/core/persistentvolumeclaim/strategy.go, ValidatePersistentVolumeClaim. */
export const PERSISTENT_VOLUME_CLAIM_KIND = defineKind<Claim>({
  type: {
    group: '',
    version: 'v1',
    resource: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    namespaced: true,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.PersistentVolumeClaim',
  answersDeleted: true,
  shortNames: ['pvc'],
  hasStatus: true,
  ...printed<Claim>(
    NAME,
    shown('Status', ({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    ),
    shown('Volume', ({ spec }) => spec?.volumeName ?? ''),
    shown('Capacity', ({ spec, status }) =>
      spec?.volumeName ? String(status?.capacity?.storage ?? '0') : '',
    ),
    shown('Access Modes', ({ spec, status }) =>
      spec?.volumeName ? accessModesText(status?.accessModes) : '',
    ),
    shown('StorageClass', ({ spec }) => spec?.storageClassName ?? ''),
    shown('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>'),
    AGE,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>'),
  ),
  applyDefaults(object) {
    defaultClaimSpec((object.spec ??= {}));
    (object.status ??= {}).phase ??= 'Pending';
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' };
    // CrossNamespaceVolumeDataSource is off by default in 1.36.
    if (object.spec?.dataSourceRef?.namespace) delete object.spec.dataSourceRef;
    bindDataSources(object.spec ?? {});
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource === '') bindDataSources(object.spec ?? {}, old.spec ?? {});
  },
  validate: ({ spec }, errors) => validateClaimSpec(spec ?? {}, 'spec', errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === '') validateClaimUpdate(object, old, errors);
    else validateClaimStatus(object.status ?? {}, errors);
  },
});

/** The old field and the new one for the same thing. Source: pkg/api/persistentvolumeclaim/util.go. */
function bindDataSources(
  spec: Decoded<PersistentVolumeClaimSpec>,
  old?: Decoded<PersistentVolumeClaimSpec>,
): void {
  const isInUse = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  // The old field was for volumes and their snapshots alone; anything else in it was not looked at.
  if (!isInUse && !spec.dataSourceRef && !isVolumeOrSnapshot(spec.dataSource)) delete spec.dataSource;
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (!dataSource && dataSourceRef && !dataSourceRef.namespace) {
    const { apiGroup, kind, name } = dataSourceRef;
    spec.dataSource = { ...(apiGroup !== undefined && { apiGroup }), kind, name };
  }
}

function isVolumeOrSnapshot(source: Decoded<PersistentVolumeClaimSpec>['dataSource']): boolean {
  const { apiGroup = '', kind } = source ?? {};
  return (
    (apiGroup === '' && kind === 'PersistentVolumeClaim') ||
    (apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot')
  );
}

import { FIELD_IMMUTABLE, nanosOf, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown, wide } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid } from '../validation/field-errors.js';
import { accessModesText, validateClaimSpec } from '../volumes/claim-spec.js';
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
  prepareForUpdate(object, _old, subresource) {
    if (subresource === '') bindDataSources(object.spec ?? {});
  },
  validate: ({ spec }, errors) => validateClaimSpec(spec ?? {}, 'spec', errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource !== '') return;
    validateClaimSpec(object.spec ?? {}, 'spec', errors);
    validateSpecUpdate(object, old, errors);
  },
});

/** The old field and the new one for the same thing. */
function bindDataSources(spec: Decoded<PersistentVolumeClaimSpec>): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (!dataSource && dataSourceRef && !dataSourceRef.namespace) {
    const { apiGroup, kind, name } = dataSourceRef;
    const isVolume = !apiGroup && kind === 'PersistentVolumeClaim';
    if (isVolume || (apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'))
      spec.dataSource = { ...(apiGroup !== undefined && { apiGroup }), kind, name };
  }
}

/** A claim is bound once, and grows when it is bound. Source: ValidatePersistentVolumeClaimUpdate. */
function validateSpecUpdate(claim: Readonly<Claim>, old: Readonly<Claim>, errors: FieldError[]): void {
  const spec = claim.spec ?? {};
  const before = old.spec ?? {};
  const isBound = claim.status?.phase === 'Bound';
  const fixed = (one: Decoded<PersistentVolumeClaimSpec>): object => ({
    ...one,
    volumeName: before.volumeName ? one.volumeName : undefined,
    // Claims from before there were default classes get theirs later.
    storageClassName: before.storageClassName === undefined ? undefined : one.storageClassName,
    volumeAttributesClassName: undefined,
    resources: isBound
      ? { ...one.resources, requests: { ...one.resources?.requests, storage: 0 } }
      : one.resources,
  });
  if (!semanticEqual(fixed(spec), fixed(before)))
    errors.push(
      forbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  const size = spec.resources?.requests?.storage;
  if (nanosOf(size) < nanosOf(before.resources?.requests?.storage))
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than previous value'));
  if (spec.volumeMode !== before.volumeMode)
    errors.push(invalid('volumeMode', spec.volumeMode ?? null, FIELD_IMMUTABLE));
}

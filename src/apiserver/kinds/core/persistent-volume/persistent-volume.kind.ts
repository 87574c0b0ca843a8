import type { PersistentVolume } from '@rollkeeper/machinery/types/core-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown, wide } from '../../common/printed-columns.js';
import { defineKind } from '../../define-kind.js';
import { accessModesText } from '../../volumes/claim-spec.js';
import { defaultSourceOf } from '@rollkeeper/machinery/defaults';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { validateVolume, validateVolumeUpdate } from './persistent-volume.validation.js';

type Volume = DecodedObject<PersistentVolume>;

/** Source: pkg/registry/core/persistentvolume/strategy.go. */
export const PERSISTENT_VOLUME_KIND = defineKind<Volume>({
  type: {
    group: '',
    version: 'v1',
    resource: 'persistentvolumes',
    kind: 'PersistentVolume',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.PersistentVolume',
  answersDeleted: true,
  shortNames: ['pv'],
  hasStatus: true,
  ...printed<Volume>(
    NAME,
    shown('Capacity', ({ spec }) => String(spec?.capacity?.storage ?? '0')),
    shown('Access Modes', ({ spec }) => accessModesText(spec?.accessModes)),
    shown('Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ''),
    shown('Status', ({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    ),
    shown('Claim', ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    ),
    shown('StorageClass', ({ spec }) => spec?.storageClassName ?? ''),
    shown('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>'),
    shown('Reason', ({ status }) => status?.reason ?? ''),
    AGE,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>'),
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    spec.persistentVolumeReclaimPolicy ||= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    (object.status ??= {}).phase ??= 'Pending';
    for (const name in spec) defaultSourceOf(spec, name);
  },
  prepareForCreate(object) {
    const { creationTimestamp } = object.metadata;
    const since = creationTimestamp === undefined ? {} : { lastPhaseTransitionTime: creationTimestamp };
    object.status = { phase: 'Pending', ...since };
  },
  prepareForUpdate(object, old, subresource, nowMs) {
    if (subresource === 'status') keepPhaseTime((object.status ??= {}), old.status ?? {}, nowMs);
  },
  validate: ({ spec }, errors) => validateVolume(spec ?? {}, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === '') validateVolumeUpdate(object.spec ?? {}, old.spec ?? {}, errors);
  },
});

type Status = NonNullable<Volume['status']>;

/** Since when a volume has been in its phase, unless its writer says so. Source: PrepareForUpdate of its status. */
function keepPhaseTime(status: Status, old: Status, nowMs: number): void {
  const { lastPhaseTransitionTime: time } = status;
  const before = old.lastPhaseTransitionTime;
  if (status.phase === old.phase) {
    if (time === undefined && before !== undefined) status.lastPhaseTransitionTime = before;
  } else if (time === undefined || time === before) status.lastPhaseTransitionTime = toRfc3339(nowMs);
}

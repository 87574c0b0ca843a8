import type { Decoded } from '../kubernetes/index.js';
import { isJsonObject } from '../kubernetes/index.js';
import type { PersistentVolumeClaimSpec, ProjectedVolumeSource, Volume } from '../generated/types/core-v1.js';
import { pullPolicyFor } from './container-defaults.js';

/** rw-r--r-- */
const DEFAULT_MODE = 0o644;

/** Defaults of a source, by its field name in the volume. Source: pkg/apis/core/v1/defaults.go. */
const SOURCE_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  secret: { defaultMode: DEFAULT_MODE },
  configMap: { defaultMode: DEFAULT_MODE },
  downwardAPI: { defaultMode: DEFAULT_MODE },
  projected: { defaultMode: DEFAULT_MODE },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

/** Defaults of the named source, if it has any. */
export function defaultSourceOf(fields: Readonly<Record<string, unknown>>, name: string): void {
  const defaults = SOURCE_DEFAULTS[name];
  const source = fields[name];
  if (isJsonObject(source) && defaults) for (const key in defaults) source[key] ??= defaults[key];
}

/** Defaults of one volume; one without a source is an empty directory. */
export function defaultVolume(volume: Decoded<Volume>): void {
  let hasSource = false;
  for (const name in volume) {
    if (name === 'name') continue;
    hasSource = true;
    defaultSourceOf(volume, name);
  }
  if (!hasSource) volume.emptyDir = {};
  for (const item of volume.downwardAPI?.items ?? []) {
    if (item.fieldRef) item.fieldRef.apiVersion ??= 'v1';
  }
  if (volume.image) volume.image.pullPolicy ??= pullPolicyFor(volume.image.reference ?? '');
  if (volume.projected) defaultProjected(volume.projected);
  if (volume.ephemeral?.volumeClaimTemplate)
    defaultClaimSpec((volume.ephemeral.volumeClaimTemplate.spec ??= {}));
}

function defaultProjected(projected: Decoded<ProjectedVolumeSource>): void {
  for (const source of projected.sources ?? []) {
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
    for (const item of source.downwardAPI?.items ?? []) {
      if (item.fieldRef) item.fieldRef.apiVersion ??= 'v1';
    }
  }
}

/** Source: SetDefaults_PersistentVolumeClaimSpec in pkg/apis/core/v1/defaults.go. */
export function defaultClaimSpec(spec: Decoded<PersistentVolumeClaimSpec>): void {
  spec.volumeMode ??= 'Filesystem';
}

import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { checkDns1123Subdomain, FIELD_IMMUTABLE, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { PersistentVolumeSpec } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { internalNodeSelector, validateNodeSelector } from '../../validation/node-selectors.js';
import { validateNoBacksteps } from '../../validation/paths.js';
import { validatePositiveAmount } from '../../validation/quantities.js';
import { validateQualifiedResourceName } from '../../validation/resource-names.js';
import { validateSyntax } from '../../validation/words.js';
import { VOLUME_MODES, validateAccessModes } from '../../volumes/claim-spec.js';
import {
  validateAzureDisk,
  validateCsiDriverName,
  validateHostPath,
  validatePartitioned,
} from '../../volumes/machine-sources.js';
import {
  requireFields,
  validateCeph,
  validateFc,
  validateFlocker,
  validateIscsi,
  validateNfs,
  validateQuobyte,
  validateRbd,
} from '../../volumes/network-sources.js';

type Spec = Decoded<PersistentVolumeSpec>;
type SourceRule<T> = (source: T, path: string, errors: FieldError[]) => void;
/** What of a volume's spec is no source. */
type OwnField =
  | 'accessModes'
  | 'capacity'
  | 'claimRef'
  | 'mountOptions'
  | 'nodeAffinity'
  | 'persistentVolumeReclaimPolicy'
  | 'storageClassName'
  | 'volumeAttributesClassName'
  | 'volumeMode';
type Sources = Omit<Spec, OwnField>;

const requires =
  <T extends object>(...fields: (keyof T & string)[]): SourceRule<T> =>
  (source, path, errors) =>
    requireFields(source, fields, path, errors);

const SOURCE_RULES: { readonly [K in keyof Sources]-?: SourceRule<NonNullable<Sources[K]>> } = {
  hostPath: validateHostPath,
  gcePersistentDisk: validatePartitioned('pdName'),
  awsElasticBlockStore: validatePartitioned('volumeID'),
  nfs: validateNfs,
  iscsi: validateIscsi,
  glusterfs: requires('endpoints', 'path'),
  flocker: validateFlocker,
  rbd: validateRbd,
  cinder: requires('volumeID'),
  cephfs: validateCeph,
  quobyte: validateQuobyte,
  fc: validateFc,
  flexVolume: requires('driver'),
  azureFile(source, path, errors) {
    requireFields(source, ['secretName', 'shareName'], path, errors);
    if (source.secretNamespace === '')
      errors.push(invalid(`${path}.secretNamespace`, '', 'must not be empty'));
  },
  azureDisk: validateAzureDisk,
  vsphereVolume: requires('volumePath'),
  photonPersistentDisk: requires('pdID'),
  portworxVolume: requires('volumeID'),
  scaleIO: requires('gateway', 'system', 'volumeName'),
  storageos: requires('volumeName'),
  local({ path: folder }, path, errors) {
    if (!folder) errors.push(required(`${path}.path`));
    else validateNoBacksteps(folder, `${path}.path`, errors);
  },
  csi(csi, path, errors) {
    validateCsiDriverName(csi.driver, `${path}.driver`, errors);
    if (!csi.volumeHandle) errors.push(required(`${path}.volumeHandle`));
    for (const field of [
      'controllerPublishSecretRef',
      'nodePublishSecretRef',
      'controllerExpandSecretRef',
      'nodeStageSecretRef',
      'nodeExpandSecretRef',
    ] as const)
      if (csi[field]) requireFields(csi[field], ['name', 'namespace'], `${path}.${field}`, errors);
  },
};

const POLICIES = ['Delete', 'Recycle', 'Retain'];

/** Source: ValidatePersistentVolumeSpec in pkg/apis/core/validation/validation.go. */
export function validateVolume(spec: Spec, errors: FieldError[]): void {
  const { accessModes = [], capacity = {}, persistentVolumeReclaimPolicy: policy } = spec;
  if (accessModes.length === 0) errors.push(required('spec.accessModes'));
  validateAccessModes(accessModes, 'spec.accessModes', errors);
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(required('spec.capacity'));
  if (names.length !== 1 || names[0] !== 'storage')
    errors.push(notSupported('spec.capacity', capacity, ['storage']));
  for (const name of names) {
    validateQualifiedResourceName(name, `spec.capacity[${name}]`, errors);
    validatePositiveAmount(capacity[name], `spec.capacity[${name}]`, errors);
  }
  if (policy && !POLICIES.includes(policy))
    errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, POLICIES));
  validateNodeAffinity(spec, errors);
  validateSources(spec, errors);
  if (spec.hostPath?.path === '/' && policy === 'Recycle')
    errors.push(
      forbidden('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"),
    );
  if (spec.storageClassName)
    validateSyntax(spec.storageClassName, checkDns1123Subdomain, 'spec.storageClassName', errors);
  if (spec.volumeMode !== undefined && !VOLUME_MODES.includes(spec.volumeMode))
    errors.push(notSupported('spec.volumeMode', spec.volumeMode, VOLUME_MODES));
}

function validateNodeAffinity({ nodeAffinity, local }: Spec, errors: FieldError[]): void {
  if (local && !nodeAffinity)
    errors.push(required('metadata.annotations', 'Local volume requires node affinity'));
  if (!nodeAffinity) return;
  const path = 'spec.nodeAffinity.required';
  if (!nodeAffinity.required) errors.push(required(path, 'must specify required node constraints'));
  else validateNodeSelector(nodeAffinity.required, path, errors);
}

function sourcesOf(spec: Spec): (keyof Sources)[] {
  return (Object.keys(spec) as (keyof Spec)[]).filter((name): name is keyof Sources => name in SOURCE_RULES);
}

function validateSources(spec: Spec, errors: FieldError[]): void {
  const sources = sourcesOf(spec);
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'));
  sources.forEach((name, index) => {
    if (index > 0) {
      errors.push(forbidden(`spec.${name}`, 'may not specify more than 1 volume type'));
      return;
    }
    (SOURCE_RULES[name] as SourceRule<unknown>)(spec[name], `spec.${name}`, errors);
  });
}

/** Source: ValidatePersistentVolumeUpdate. */
export function validateVolumeUpdate(spec: Spec, old: Spec, errors: FieldError[]): void {
  validateVolume(spec, errors);
  const source = (one: Spec): object => Object.fromEntries(sourcesOf(one).map((name) => [name, one[name]]));
  if (!semanticEqual(withoutSecrets(source(spec)), withoutSecrets(source(old))))
    errors.push(
      forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'),
    );
  if (spec.volumeMode !== old.volumeMode)
    errors.push(invalid('volumeMode', spec.volumeMode ?? null, FIELD_IMMUTABLE));
  if (old.nodeAffinity && !semanticEqual(spec.nodeAffinity, old.nodeAffinity))
    errors.push(
      invalid(
        'nodeAffinity',
        spec.nodeAffinity ? internalAffinity(spec.nodeAffinity) : null,
        'field is immutable, except for updating from beta label to GA',
      ),
    );
}

/** As the fields are called inside a genuine server. */
function internalAffinity({ required: selector }: NonNullable<Spec['nodeAffinity']>): object {
  return { Required: selector ? internalNodeSelector(selector) : null };
}

/** The secrets with which a CSI volume grows may come later. */
function withoutSecrets(source: object): object {
  const { csi } = source as { csi?: object };
  return csi
    ? { ...source, csi: { ...csi, controllerExpandSecretRef: undefined, nodeExpandSecretRef: undefined } }
    : source;
}

import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  FIELD_IMMUTABLE,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import type { PersistentVolumeSpec, SecretReference } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { shownMap } from '../../validation/labels.js';
import { internalNodeSelector, validateNodeSelector } from '../../validation/node-selectors.js';
import { validateNoBacksteps } from '../../validation/paths.js';
import { validateBasicAmount, validatePositiveAmount } from '../../validation/quantities.js';
import { internalDiff } from '../../validation/unified-diff.js';
import { moreThanOneSource, ruleField } from '../../volumes/source-fields.js';
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
/** The fields of a volume's spec that are no source. */
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
  glusterfs: requires('endpoints', 'path'),
  flocker: validateFlocker,
  nfs: validateNfs,
  rbd: validateRbd,
  quobyte: validateQuobyte,
  cephfs: validateCeph,
  iscsi: validateIscsi,
  cinder: requires('volumeID'),
  fc: validateFc,
  flexVolume: requires('driver'),
  azureFile(source, path, errors) {
    requireFields(source, ['secretName', 'shareName'], path, errors);
    if (source.secretNamespace === '')
      errors.push(invalid(`${path}.secretNamespace`, '', 'must not be empty'));
  },
  vsphereVolume: requires('volumePath'),
  photonPersistentDisk: requires('pdID'),
  portworxVolume: requires('volumeID'),
  azureDisk: validateAzureDisk,
  scaleIO: requires('gateway', 'system', 'volumeName'),
  local({ path: folder }, path, errors) {
    if (!folder) errors.push(required(`${path}.path`));
    else validateNoBacksteps(folder, `${path}.path`, errors);
  },
  storageos: requires('volumeName'),
  csi(csi, path, errors) {
    validateCsiDriverName(csi.driver, `${path}.driver`, errors);
    if (!csi.volumeHandle) errors.push(required(`${path}.volumeHandle`));
    for (const field of [
      'controllerPublishSecretRef',
      'controllerExpandSecretRef',
      'nodePublishSecretRef',
      'nodeExpandSecretRef',
    ] as const)
      if (csi[field]) validateSecretReference(csi[field], `${path}.${field}`, errors);
  },
};

function validateSecretReference(
  { name, namespace }: Decoded<SecretReference>,
  path: string,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(`${path}.name`));
  else validateSyntax(name, checkDns1123Subdomain, `${path}.name`, errors);
  if (!namespace) errors.push(required(`${path}.namespace`));
  else validateSyntax(namespace, checkDns1123Label, `${path}.namespace`, errors);
}

const POLICIES = ['Delete', 'Recycle', 'Retain'];

/** Source: ValidatePersistentVolumeSpec in pkg/apis/core/validation/validation.go. */
export function validateVolume(spec: Spec, errors: FieldError[]): void {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy } = spec;
  if (accessModes.length === 0) errors.push(required('spec.accessModes'));
  validateAccessModes(accessModes, 'spec.accessModes', errors);
  validateCapacity(spec, errors);
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
  validateAttributesClass(spec, errors);
}

function validateAttributesClass({ csi, volumeAttributesClassName: name }: Spec, errors: FieldError[]): void {
  if (name === undefined) return;
  const field = 'spec.volumeAttributesClassName';
  if (name === '') errors.push(required(field, 'an empty string is disallowed'));
  else validateSyntax(name, checkDns1123Subdomain, field, errors);
  if (!csi) errors.push(required('spec.csi', 'has to be specified when using volumeAttributesClassName'));
}

function validateCapacity(spec: Spec, errors: FieldError[]): void {
  const { capacity } = spec;
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) errors.push(required('spec.capacity'));
  if (names.length !== 1 || names[0] !== 'storage')
    errors.push(notSupported('spec.capacity', shownMap(spec, 'capacity'), ['storage']));
  for (const name of names) {
    validateBasicAmount(capacity?.[name], `spec.capacity[${name}]`, errors);
    validatePositiveAmount(capacity?.[name], `spec.capacity[${name}]`, errors);
  }
}

function validateNodeAffinity({ nodeAffinity }: Spec, errors: FieldError[]): void {
  if (!nodeAffinity) return;
  const path = 'spec.nodeAffinity.required';
  if (!nodeAffinity.required) errors.push(required(path, 'must specify required node constraints'));
  else validateNodeSelector(nodeAffinity.required, path, errors);
}

/** In the order in which a genuine server looks for them. */
const SOURCES = Object.keys(SOURCE_RULES) as (keyof Sources)[];

function sourcesOf(spec: Spec): (keyof Sources)[] {
  return SOURCES.filter((name) => spec[name] !== undefined);
}

function validateSources(spec: Spec, errors: FieldError[]): void {
  const sources = sourcesOf(spec);
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'));
  sources.forEach((name, index) => {
    // A genuine server never refuses this one as the second.
    if (index > 0 && name !== 'flexVolume') {
      errors.push(moreThanOneSource('spec', name));
      return;
    }
    (SOURCE_RULES[name] as SourceRule<unknown>)(spec[name], `spec.${ruleField(name)}`, errors);
    if (name === 'local' && !spec.nodeAffinity)
      errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
  });
}

/** Source: ValidatePersistentVolumeUpdate. */
export function validateVolumeUpdate(spec: Spec, old: Spec, errors: FieldError[]): void {
  // The update looks at the whole of it once more.
  validateVolume(spec, errors);
  validateVolume(spec, errors);
  const source = withoutNewSecret(sourceOf(spec), old.csi);
  const before = sourceOf(old);
  if (!sameMeaning(source, before))
    errors.push(
      forbidden(
        'spec.persistentvolumesource',
        `spec.persistentvolumesource is immutable after creation\n${internalDiff('core.PersistentVolumeSource', before, source)}`,
      ),
    );
  if (spec.volumeMode !== old.volumeMode)
    errors.push(invalid('volumeMode', spec.volumeMode ?? null, FIELD_IMMUTABLE));
  if (
    old.nodeAffinity &&
    !sameMeaning(spec.nodeAffinity, withStableKeys(old.nodeAffinity, spec.nodeAffinity))
  )
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

function sourceOf(spec: Spec): Sources {
  return Object.fromEntries(sourcesOf(spec).map((name) => [name, spec[name]]));
}

/** The secret with which a CSI volume grows may come later. */
function withoutNewSecret(source: Sources, before: Spec['csi']): Sources {
  if (!source.csi || !before || before.controllerExpandSecretRef) return source;
  return { ...source, csi: { ...source.csi, controllerExpandSecretRef: undefined } };
}

const STABLE_KEYS: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);

type Affinity = NonNullable<Spec['nodeAffinity']>;

/** As it was, with the keys of now where those may replace their forerunners. An empty one may replace any key without a successor. */
function withStableKeys(old: Affinity, now: Affinity | undefined): Affinity {
  const { nodeSelectorTerms = [] } = old.required ?? {};
  const terms = nodeSelectorTerms.map(({ matchExpressions, ...term }, index) => ({
    ...term,
    ...(matchExpressions && {
      matchExpressions: matchExpressions.map((expression, at) => {
        const key = now?.required?.nodeSelectorTerms?.[index]?.matchExpressions?.[at]?.key ?? '';
        return key === (STABLE_KEYS.get(expression.key ?? '') ?? '') ? { ...expression, key } : expression;
      }),
    }),
  }));
  return { ...old, ...(old.required && { required: { ...old.required, nodeSelectorTerms: terms } }) };
}

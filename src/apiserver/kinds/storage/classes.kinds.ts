import type {
  StorageClass as IStorageClass,
  VolumeAttributesClass,
} from '@rollkeeper/machinery/types/storage-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import {
  checkQualifiedName,
  DEFAULT_STORAGE_CLASS,
  FIELD_IMMUTABLE,
  sameMeaning,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../validation/field-errors.js';
import { shownMap } from '../validation/labels.js';
import { validateSyntax } from '../validation/words.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type StorageClass = DecodedObject<IStorageClass>;
type AttributesClass = DecodedObject<VolumeAttributesClass>;

export const STORAGE_GROUP = 'storage.k8s.io';
const RECLAIM = ['Delete', 'Retain'];
const BINDING = ['Immediate', 'WaitForFirstConsumer'];
const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;

/** Source: ValidateStorageClass in pkg/apis/storage/validation/validation.go. */
export const STORAGE_CLASS_KIND = defineKind<StorageClass>({
  type: {
    group: STORAGE_GROUP,
    version: 'v1',
    resource: 'storageclasses',
    kind: 'StorageClass',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.storage.v1.StorageClass',
  answersDeleted: true,
  shortNames: ['sc'],
  ...printed<StorageClass>(
    {
      ...NAME,
      cells: ({ metadata }) => [
        metadata.annotations?.[DEFAULT_STORAGE_CLASS] === 'true'
          ? `${metadata.name} (default)`
          : metadata.name,
      ],
    },
    shown('Provisioner', ({ provisioner }) => provisioner ?? ''),
    shown('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
    shown('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    shown('AllowVolumeExpansion', ({ allowVolumeExpansion }) => String(allowVolumeExpansion ?? false)),
    AGE,
  ),
  applyDefaults(object) {
    object.reclaimPolicy ??= 'Delete';
    object.volumeBindingMode ??= 'Immediate';
  },
  validate,
  validateUpdate(object, old, _subresource, errors) {
    validate(object, errors);
    for (const field of ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'] as const)
      if (!sameMeaning(object[field], old[field]))
        errors.push(invalid(field, shownMap(object, field), FIELD_IMMUTABLE));
  },
});

function validate(object: Readonly<StorageClass>, errors: FieldError[]): void {
  const { provisioner, reclaimPolicy, volumeBindingMode, allowedTopologies } = object;
  validateProvisioner(provisioner, 'provisioner', errors);
  validateParameters(object.parameters, errors);
  if (reclaimPolicy && !RECLAIM.includes(reclaimPolicy))
    errors.push(notSupported('reclaimPolicy', reclaimPolicy, RECLAIM));
  if (volumeBindingMode === undefined) errors.push(required('volumeBindingMode'));
  else if (!BINDING.includes(volumeBindingMode))
    errors.push(notSupported('volumeBindingMode', volumeBindingMode, BINDING));
  validateTopologies(allowedTopologies ?? [], errors);
}

function validateProvisioner(name: string | undefined, field: string, errors: FieldError[]): void {
  if (!name) errors.push(required(field));
  else validateSyntax(name.toLowerCase(), checkQualifiedName, field, errors);
}

/**
 * Each term has other keys or values than those before it; an empty one is never let in. A genuine server compares each with a list
 * of as many places as there are terms, and those that are not filled yet equal an empty term. Source: validateAllowedTopologies.
 */
function validateTopologies(
  terms: NonNullable<StorageClass['allowedTopologies']>,
  errors: FieldError[],
): void {
  const seen = new Map<string, number>();
  const empty = '[]';
  terms.forEach(({ matchLabelExpressions = [] }, index) => {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const valuesByKey = new Map<string, readonly string[]>();
    matchLabelExpressions.forEach(({ key = '', values = [] }, at) => {
      validateTopologyValues(values, `${path}[${at}].values`, errors);
      validateSyntax(key, checkQualifiedName, `${path}[${at}].key`, errors);
      if (valuesByKey.has(key)) errors.push(duplicate(`${path}[${at}].key`, key));
      valuesByKey.set(key, [...new Set(values)].sort());
    });
    const identity = stringifyJson([...valuesByKey].sort(([one], [other]) => (one < other ? -1 : 1)));
    const before = seen.get(identity) ?? 0;
    const equal = before + (identity === empty ? terms.length - index : 0);
    for (let count = 0; count < equal; count++) errors.push(duplicate(path, ''));
    seen.set(identity, before + 1);
  });
}

function validateTopologyValues(values: readonly string[], path: string, errors: FieldError[]): void {
  if (values.length === 0) errors.push(required(path));
  const repeated = repeatedPlaces(values);
  values.forEach((value, index) => {
    if (repeated.has(index)) errors.push(duplicate(`${path}[${index}]`, value));
  });
}

function validateParameters(
  parameters: Readonly<Record<string, string>> | undefined,
  errors: FieldError[],
): void {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > MAX_PARAMETERS) errors.push(tooLong('parameters', MAX_PARAMETERS));
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === '') errors.push(invalid('parameters', key, 'field can not be empty.'));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_PARAMETER_BYTES) errors.push(tooLong('parameters', MAX_PARAMETER_BYTES));
}

/** Source: ValidateVolumeAttributesClass. */
export const VOLUME_ATTRIBUTES_CLASS_KIND = defineKind<AttributesClass>({
  type: {
    group: STORAGE_GROUP,
    version: 'v1',
    resource: 'volumeattributesclasses',
    kind: 'VolumeAttributesClass',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.storage.v1.VolumeAttributesClass',
  answersDeleted: true,
  shortNames: ['vac'],
  ...printed<AttributesClass>(
    NAME,
    shown('DriverName', ({ driverName }) => driverName ?? ''),
    AGE,
  ),
  validate: validateAttributesClass,
  validateUpdate(object, old, _subresource, errors) {
    for (const field of ['driverName', 'parameters'] as const)
      if (!sameMeaning(object[field], old[field]))
        errors.push(forbidden(field, `updates to ${field} are forbidden.`));
    validateAttributesClass(object, errors);
  },
});

function validateAttributesClass(
  { driverName, parameters }: Readonly<AttributesClass>,
  errors: FieldError[],
): void {
  validateProvisioner(driverName, 'driverName', errors);
  if (Object.keys(parameters ?? {}).length === 0)
    errors.push(required('parameters', 'must contain at least one key/value pair'));
  validateParameters(parameters, errors);
}

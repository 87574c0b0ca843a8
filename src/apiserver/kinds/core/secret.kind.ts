import type { Secret as ISecret } from '@rollkeeper/machinery/types/core-v1';
import {
  FIELD_IMMUTABLE,
  checkConfigMapKey,
  isJsonObject,
  ownField,
  sameMeaning,
  setField,
} from '@rollkeeper/machinery/kubernetes';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { readJsonText } from '../../schema/index.js';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required, tooLong } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { keyPairWarnings } from './key-pair-warnings.js';

type Secret = DecodedObject<ISecret>;

const MAX_BYTES = 1024 * 1024;
const IMMUTABLE = 'field is immutable when `immutable` is set';

/** Source: ValidateSecret in pkg/apis/core/validation/validation.go, and pkg/registry/core/secret/strategy.go. */
export const SECRET_KIND = defineKind<Secret>({
  type: { group: '', version: 'v1', resource: 'secrets', kind: 'Secret', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.Secret',
  ...printed<Secret>(
    NAME,
    shown('Type', ({ type }) => type ?? ''),
    shown('Data', ({ data }) => Object.keys(data ?? {}).length),
    AGE,
  ),
  applyDefaults(object) {
    object.type ??= 'Opaque';
    takeStringData(object);
  },
  prepareForUpdate(object, old) {
    // Old clients leave the type out.
    if (!object.type) object.type = old.type;
  },
  warnings: ({ data = {}, type }) =>
    type === 'kubernetes.io/tls' ? keyPairWarnings(data['tls.crt'], data['tls.key']) : [],
  validate,
  validateUpdate(object, old, _subresource, errors) {
    if (object.type !== old.type) errors.push(invalid('type', object.type, FIELD_IMMUTABLE));
    if (old.immutable) {
      if (!object.immutable) errors.push(forbidden('immutable', IMMUTABLE));
      if (!sameMeaning(object.data, old.data)) errors.push(forbidden('data', IMMUTABLE));
    }
    validate(object, errors);
  },
  selectableFields: ({ type }) => ({ type: type ?? '' }),
});

/** Turns values that were written in clear into data; they are never read back. */
function takeStringData(object: Secret): void {
  if (!object.stringData) return;
  const data: Record<string, string> = { ...object.data };
  for (const [key, text] of Object.entries(object.stringData))
    setField(data, key, Buffer.from(text).toString('base64'));
  object.data = data;
  delete object.stringData;
}

const SSH_KEY = 'ssh-privatekey';

/** Keys that a type cannot do without. The key of SSH may not be empty either. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': [SSH_KEY],
};

function validate({ metadata, type = '', data = {} }: Readonly<Secret>, errors: FieldError[]): void {
  let bytes = 0;
  for (const key in data) {
    validateSyntax(key, checkConfigMapKey, `data[${key}]`, errors);
    bytes += Buffer.byteLength(data[key] ?? '', 'base64');
  }
  if (bytes > MAX_BYTES) errors.push(tooLong('data', MAX_BYTES));
  for (const key of ownField(REQUIRED_KEYS, type) ?? [])
    if (data[key] === undefined || (data[key] === '' && key === SSH_KEY))
      errors.push(required(`data[${key}]`));
  switch (type) {
    case 'kubernetes.io/service-account-token':
      if (!metadata.annotations?.['kubernetes.io/service-account.name'])
        errors.push(required('metadata.annotations[kubernetes.io/service-account.name]'));
      break;
    case 'kubernetes.io/dockercfg':
    case 'kubernetes.io/dockerconfigjson':
      validateDockerConfig(
        type === 'kubernetes.io/dockercfg' ? '.dockercfg' : '.dockerconfigjson',
        data,
        errors,
      );
      break;
    case 'kubernetes.io/basic-auth':
      if (data.username === undefined && data.password === undefined) {
        errors.push(required('data[username]'), required('data[password]'));
      }
  }
}

function validateDockerConfig(
  key: string,
  data: Readonly<Record<string, string>>,
  errors: FieldError[],
): void {
  const content = data[key];
  if (content === undefined) {
    errors.push(required(`data[${key}]`));
    return;
  }
  const problem = mapProblem(Buffer.from(content, 'base64').toString());
  if (problem !== undefined) errors.push(invalid(`data[${key}]`, '<secret contents redacted>', problem));
}

/** Why Go's decoder makes no map of a text. */
function mapProblem(text: string): string | undefined {
  let value: unknown;
  try {
    value = readJsonText(text);
  } catch (error) {
    return errorMessage(error);
  }
  if (value === null || isJsonObject(value)) return undefined;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

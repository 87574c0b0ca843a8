import type { ConfigMap as IConfigMap } from '@rollkeeper/machinery/types/core-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { checkConfigMapKey, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, tooLong } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

type ConfigMap = DecodedObject<IConfigMap>;

const MAX_BYTES = 1024 * 1024;

/** Source: ValidateConfigMap in pkg/apis/core/validation/validation.go. */
export const CONFIG_MAP_KIND = defineKind<ConfigMap>({
  type: { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.ConfigMap',
  shortNames: ['cm'],
  ...printed<ConfigMap>(
    NAME,
    shown('Data', ({ data, binaryData }) => countKeys(data) + countKeys(binaryData)),
    AGE,
  ),
  validate,
  validateUpdate(object, old, _subresource, errors) {
    if (old.immutable) {
      if (!object.immutable) errors.push(forbidden('immutable', IMMUTABLE));
      for (const field of ['data', 'binaryData'] as const)
        if (!sameMeaning(object[field], old[field])) errors.push(forbidden(field, IMMUTABLE));
    }
    validate(object, errors);
  },
});

const IMMUTABLE = 'field is immutable when `immutable` is set';

function validate({ data, binaryData }: Readonly<ConfigMap>, errors: FieldError[]): void {
  let bytes = 0;
  for (const key in data) {
    validateSyntax(key, checkConfigMapKey, `data[${key}]`, errors);
    if (binaryData && Object.hasOwn(binaryData, key))
      errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    bytes += Buffer.byteLength(data[key] ?? '');
  }
  for (const key in binaryData) {
    validateSyntax(key, checkConfigMapKey, `binaryData[${key}]`, errors);
    bytes += Buffer.byteLength(binaryData[key] ?? '', 'base64');
  }
  if (bytes > MAX_BYTES) errors.push(tooLong('[]', MAX_BYTES));
}

function countKeys(map: object | undefined): number {
  return map ? Object.keys(map).length : 0;
}

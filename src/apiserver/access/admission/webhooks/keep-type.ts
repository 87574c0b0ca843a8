import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { internalError, invalid, StatusError } from '../../../schema/errors/index.js';
import type { FieldError } from '../../../schema/errors/index.js';
import { isDefinedByUsers } from '../../../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../../../kinds/index.js';

/**
 * Makes sure that a patch has left an object what it was: what it has taken away comes back. Sources: the JSON serializer of
 * apimachinery, which decodes what a webhook patched, and ValidateTypeMeta in apiextensions-apiserver.
 * @throws StatusError 422 of a kind that users define, else 500
 */
export function keepType(
  patched: UnstructuredObject,
  shown: Pick<KindDefinition, 'hasStrategicMerge' | 'type'>,
  kinds: KindRegistry,
): void {
  const { type } = shown;
  const apiVersion = apiVersionOf(type);
  patched.apiVersion ||= apiVersion;
  patched.kind ||= type.kind;
  if (patched.apiVersion === apiVersion && patched.kind === type.kind) return;
  if (isDefinedByUsers(shown)) {
    const errors = [
      ...mismatch('kind', patched.kind, type.kind),
      ...mismatch('apiVersion', patched.apiVersion, apiVersion),
    ];
    throw invalid(type, patched.metadata.name, errors);
  }
  if (!kinds.findByKind(patched.apiVersion, patched.kind))
    throw internalError(
      `no kind ${JSON.stringify(patched.kind)} is registered for version ${JSON.stringify(patched.apiVersion)} in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"`,
    );
  throw new StatusError(
    500,
    '',
    `converting (${goTypeOf(patched.apiVersion, patched.kind)}) to (${type.group.split('.')[0] || 'core'}.${type.kind}): unknown conversion`,
  );
}

function mismatch(field: string, value: string, expected: string): FieldError[] {
  if (value === expected) return [];
  const message = `Invalid value: ${JSON.stringify(value)}: must be ${expected}`;
  return [{ type: 'FieldValueInvalid', field, message }];
}

function goTypeOf(apiVersion: string, kind: string): string {
  return `${apiVersion.split('/').at(-1) ?? ''}.${kind}`;
}

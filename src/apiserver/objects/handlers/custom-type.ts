import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, goQuote } from '@rollkeeper/machinery/kubernetes';
import { badRequest, invalid } from '../../schema/errors/index.js';
import type { FieldError, StatusError } from '../../schema/errors/index.js';
import { summaryOfBytes } from '../../schema/index.js';

/**
 * Objects of kinds that users define say what they are; no type is known that could be taken for theirs.
 * @throws StatusError 400 if the kind or the right API version is not given
 */
export function checkCustomType(
  { apiVersion = '', kind }: UnstructuredObject,
  type: ResourceType,
  body: Buffer,
): void {
  if (!kind) {
    const problem = `Object 'Kind' is missing in '${body.toString('utf8')}'`;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): ${problem} (${summaryOfBytes(body)})`,
    );
  }
  const expected = apiVersionOf(type);
  if (apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
}

/** Refuses an object of another kind. Undefined: it is of this one. */
export function wrongKind(object: UnstructuredObject, type: ResourceType): StatusError | undefined {
  return object.kind === type.kind
    ? undefined
    : wrongType({ ...object, apiVersion: apiVersionOf(type) }, type);
}

/** Source: ValidateTypeMeta in apiextensions-apiserver/pkg/registry/customresource. */
export function wrongType(
  { apiVersion, kind, metadata }: UnstructuredObject,
  type: ResourceType,
): StatusError {
  const complaint = (field: string, value: string, wanted: string): FieldError => ({
    type: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${goQuote(value)}: must be ${wanted}`,
  });
  const expected = apiVersionOf(type);
  return invalid({ group: type.group, kind }, metadata.name, [
    ...(kind === type.kind ? [] : [complaint('kind', kind, type.kind)]),
    ...(apiVersion === expected ? [] : [complaint('apiVersion', apiVersion, expected)]),
  ]);
}

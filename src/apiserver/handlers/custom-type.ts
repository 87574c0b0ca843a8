import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { badRequest, invalid } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import { summaryOfBytes } from '../schema/index.js';

/**
 * Objects of kinds that users define say what they are; no type is known that could be taken for theirs.
 * @throws StatusError 400 if the kind or the right API version is not given
 */
export function checkCustomType({ apiVersion = '', kind }: UnstructuredObject, type: ResourceType, body: Buffer): void {
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

/** What is of another kind is invalid. Undefined: it is of this one. */
export function wrongKind({ kind, metadata }: UnstructuredObject, type: ResourceType): StatusError | undefined {
  if (kind === type.kind) return undefined;
  const shown = JSON.stringify(kind);
  return invalid({ group: type.group, kind }, metadata.name, [
    { type: 'FieldValueInvalid', field: 'kind', message: `Invalid value: ${shown}: must be ${type.kind}` },
  ]);
}

import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { badRequest, invalid, shortened } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import { checkWriteOptions, strictErrorText } from '../decoding/index.js';
import type { FieldValidation } from '../decoding/index.js';
import type { ApiResponse } from '../http/index.js';
import type { Subresource } from '../kinds/index.js';
import { applyPatch, patchTypeOf } from '../patch/index.js';
import { updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { DecodeError, describeFinding, normalizeObject } from '../schema/index.js';
import type { FieldFinding, SchemaRegistry } from '../schema/index.js';
import { handleApply } from './apply.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { checkPatchedIdentity } from './read-object.js';
import { writeOptionsOf } from './write-options.js';

/** Characters of a patch that a refusal repeats. */
const MAX_SHOWN_PATCH = 2048;

/** `PATCH` of an object or of its status, retried from the newest state after a concurrent change. */
export async function handlePatch(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { request, kind } = call;
  const type = patchTypeOf(request.contentType, kind);
  if (type === 'apply') return handleApply(context, call);
  const fieldValidation = checkWriteOptions(request);
  const options = writeOptionsOf(call);
  const patch = (await request.readBody()).toString('utf8');
  let warnings: string[] = [];
  const tryUpdate = (current: Readonly<UnstructuredObject>): UnstructuredObject => {
    const patched = applyPatch(current, { type, patch, schemas: context.schemas, schema: kind.schema });
    warnings = checkFindings(
      normalizePatched(patched, patch, context.schemas, kind.schema),
      patch,
      fieldValidation,
    );
    checkIdentity(patched, call);
    // Only a version that the patch itself brought is a precondition.
    if (patched.metadata.resourceVersion === current.metadata.resourceVersion) {
      patched.metadata.resourceVersion = undefined;
    }
    return patched;
  };
  const updated = await updateObject(context, call, tryUpdate, {
    ...options,
    subresource: call.subresource as Subresource,
  });
  return respondWithObject(context, call, updated, { warnings: [...warnings, ...options.warned] });
}

/**
 * Makes of a patched object what the type named `schema` makes of it; answers the unknown fields.
 * @throws StatusError 422 for a value of a wrong type, as the genuine server does: the request itself was well-formed
 */
export function normalizePatched(
  patched: UnstructuredObject,
  patch: string,
  schemas: SchemaRegistry,
  schema: string,
): readonly FieldFinding[] {
  try {
    return normalizeObject(patched, schemas, schema);
  } catch (error) {
    throw error instanceof DecodeError ? invalidPatch(patch, error.message) : error;
  }
}

function checkFindings(findings: readonly FieldFinding[], patch: string, level: FieldValidation): string[] {
  if (findings.length === 0 || level === 'Ignore') return [];
  if (level === 'Warn') return findings.map(describeFinding);
  throw invalidPatch(patch, strictErrorText(findings));
}

function invalidPatch(patch: string, problem: string): StatusError {
  const shown = shortened(JSON.stringify(patch), MAX_SHOWN_PATCH);
  const message = `Invalid value: ${shown}: ${problem}`;
  return invalid({ group: '', kind: '' }, '', [{ type: 'FieldValueInvalid', field: 'patch', message }]);
}

function checkIdentity(patched: UnstructuredObject, call: ResourceCall): void {
  const { kind } = call;
  const expected = { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind };
  if (patched.apiVersion !== expected.apiVersion || patched.kind !== expected.kind) {
    throw badRequest(
      `the patched object would be a ${patched.apiVersion} ${patched.kind}, not a ${expected.apiVersion} ${expected.kind}`,
    );
  }
  checkPatchedIdentity(patched, call);
}

import { atOnce, LongWork } from '@rollkeeper/machinery/clock';
import type { Pieces } from '@rollkeeper/machinery/clock';
import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import {
  goQuote,
  goValue,
  isJsonObject,
  parseJson,
  stringifyJson,
  uncheckedObject,
} from '@rollkeeper/machinery/kubernetes';
import { invalid, shortened, unexpected } from '../../schema/errors/index.js';
import type { StatusError } from '../../schema/errors/index.js';
import { checkWriteOptions, notRegistered, strictErrorText } from '../../http/decoding/index.js';
import type { FieldValidation, NamedType } from '../../http/decoding/index.js';
import type { ApiResponse } from '../../http/index.js';
import { applyPatch, patchTypeOf } from '../../schema/patch/index.js';
import type { PatchType } from '../../schema/patch/index.js';
import { updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import {
  conversionProblem,
  convertObject,
  DecodeError,
  describeFinding,
  normalizeObject,
  problemOf,
  sortFindings,
  typeFieldProblem,
} from '../../schema/index.js';
import type { FieldFinding } from '../../schema/index.js';
import { handleApply } from './apply.js';
import { wrongType } from './custom-type.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { checkPatchedIdentity } from './read-object.js';
import { changedPartOf, writeOptionsOf } from './write-options.js';

/** Characters of a patch that a refusal repeats. */
const MAX_SHOWN_PATCH = 32 * 1024;

/** `PATCH` of an object or of its status, retried from the newest state after a concurrent change. */
export async function handlePatch(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { request, kind } = call;
  const type = patchTypeOf(request.contentType, kind);
  if (type === 'apply') return handleApply(context, call);
  const fieldValidation = checkWriteOptions(request);
  const options = writeOptionsOf(call);
  const patch = (await request.readBody()).toString('utf8');
  const tryUpdate = async (current: Readonly<UnstructuredObject>): Promise<UnstructuredObject> => {
    const patching = { type, patch, current, kind: kind.type, schema: kind.schema };
    const made = await new LongWork(context.clock).run(patchInPieces(context, patching));
    const patched = made.object;
    for (const warning of checkFindings(made, fieldValidation)) request.warn(warning);
    const problem = kind.conversionProblem?.(patched);
    // The result of a strategic merge is converted on its own, after the patch, and a failure of that has no status.
    if (problem !== undefined) throw type === 'strategic' ? unexpected(problem) : made.refuse(problem);
    patched.apiVersion = current.apiVersion;
    patched.kind = current.kind;
    checkPatchedIdentity(patched, call);
    // Only a version that the patch itself brought is a precondition.
    if (patched.metadata.resourceVersion === current.metadata.resourceVersion) {
      patched.metadata.resourceVersion = undefined;
    }
    return patched;
  };
  const updated = await updateObject(context, call, tryUpdate, {
    ...options,
    subresource: changedPartOf(call),
    isPatch: true,
  });
  return respondWithObject(context, call, updated);
}

interface Patching {
  readonly type: Exclude<PatchType, 'apply'>;
  /** The body of the request. */
  readonly patch: string;
  readonly current: Readonly<UnstructuredObject>;
  readonly kind: ResourceType;
  readonly schema: string;
}

interface PatchedObject {
  readonly object: UnstructuredObject;
  readonly findings: readonly FieldFinding[];
  /** A refusal that says what is wrong with it. */
  readonly refuse: (problem: string) => StatusError;
}

/**
 * The object that a patch makes, as its type has it.
 * @throws StatusError 422 for a value of a wrong type, as the genuine server does: the request itself was well-formed
 */
export function patchedObject(context: RegistryContext, patching: Patching): PatchedObject {
  return atOnce(patchInPieces(context, patching));
}

function* patchInPieces(context: RegistryContext, patching: Patching): Pieces<PatchedObject> {
  const { current, kind, patch, schema, type } = patching;
  const { schemas } = context;
  const isStrategic = type === 'strategic';
  const options = { type, patch, schemas, schema };
  const { object } = applyPatch(current, options);
  yield;
  // Refusals show what was made of the object, and of strategic merges the patch.
  const made = isStrategic ? undefined : stringifyJson(object);
  // The patched object shares parts with the patch, which is therefore read again.
  const refuse = (problem: string): StatusError =>
    invalidPatch(made ?? goValue(applyPatch(current, options).patch), problem);
  const isCustom = schemas.get(schema)?.structural !== undefined;
  // A converter makes of a strategic merge what it is meant to be, regardless of what it calls itself.
  if (!isStrategic) checkPatchedType(object, current, refuse, { type: kind, isCustom });
  if (!isStrategic && !isCustom && !object.apiVersion) return { ...withoutVersion(object), refuse };
  yield;
  try {
    const found = isStrategic
      ? convertObject(object, schemas, schema)
      : normalizeObject(object, schemas, schema);
    const findings = sortFindings(found, isCustom);
    return { object, findings, refuse };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refuse(
      isStrategic ? conversionProblem(error) : problemOf(firstProblem(made, error, context, schema)),
    );
  }
}

/**
 * A patch that takes the API version away leaves nothing that a genuine server could read: it takes the rest for an object of its
 * own internal version, whose fields have other names.
 */
function withoutVersion(object: UnstructuredObject): Pick<PatchedObject, 'object' | 'findings'> {
  const fields = Object.keys(object).filter((name) => name !== 'apiVersion' && name !== 'kind');
  return {
    object: uncheckedObject({ metadata: {} }),
    findings: fields.sort().map((path) => ({ problem: 'unknown', path })),
  };
}

/** The problem that Go finds first in the document that a patch makes, which is written with its keys in order. */
function firstProblem(
  made: string | undefined,
  found: DecodeError,
  { schemas }: RegistryContext,
  schema: string,
): DecodeError {
  if (made === undefined) return found;
  try {
    normalizeObject(uncheckedObject(sortedKeys(parseJson(made))), schemas, schema);
  } catch (error) {
    if (error instanceof DecodeError) return error;
  }
  return found;
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key])]));
}

/** A patch may leave out what the object calls itself, and not change it. */
function checkPatchedType(
  patched: UnstructuredObject,
  current: Readonly<UnstructuredObject>,
  refuse: (problem: string) => StatusError,
  { type, isCustom }: { type: ResourceType; isCustom: boolean },
): void {
  const unreadable = typeFieldProblem(patched);
  if (unreadable !== undefined) throw refuse(unreadable);
  // A patch may set them to null, which leaves them out.
  const named: { readonly [Field in keyof NamedType]?: string | null } = patched;
  const apiVersion = named.apiVersion ?? current.apiVersion;
  const kind = named.kind ?? current.kind;
  if (apiVersion === current.apiVersion && kind === current.kind) return;
  throw isCustom
    ? wrongType({ ...current, apiVersion, kind }, type)
    : refuse(notRegistered({ apiVersion, kind }, type.group));
}

function checkFindings({ findings, refuse }: PatchedObject, level: FieldValidation): string[] {
  if (findings.length === 0 || level === 'Ignore') return [];
  if (level === 'Warn') return findings.map(describeFinding);
  throw refuse(strictErrorText(findings));
}

function invalidPatch(shown: string, problem: string): StatusError {
  const message = `Invalid value: ${goQuote(shortened(shown, MAX_SHOWN_PATCH))}: ${problem}`;
  return invalid({ group: '', kind: '' }, '', [{ type: 'FieldValueInvalid', field: 'patch', message }]);
}

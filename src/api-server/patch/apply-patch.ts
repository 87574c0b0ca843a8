import jsonMergePatch from 'json-merge-patch';
import { applyPatch as applyJsonPatch } from 'rfc6902';
import type { Operation } from 'rfc6902';
import type { UnstructuredObject } from '../../kubernetes/index.js';
import { cloneJson, parseJson } from '../../kubernetes/index.js';
import { badRequest, StatusError, unprocessable } from '../errors/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import type { PatchType } from './patch-type.js';
import { strategicMerge } from './strategic-merge.js';

export interface PatchOptions {
  readonly type: Exclude<PatchType, 'apply'>;
  /** The body of the request. */
  readonly patch: string;
  readonly schemas: SchemaRegistry;
  /** Schema of the patched object; strategic merges go by it. */
  readonly schema: string;
}

/** Operations in one JSON patch; the genuine server's limit. */
const MAX_OPERATIONS = 10_000;

/**
 * The object that comes out when a patch is applied to `current`, which stays as it is.
 * @throws StatusError 400 for a body that is no patch, 422 for one that does not fit the object
 */
export function applyPatch(current: Readonly<UnstructuredObject>, options: PatchOptions): UnstructuredObject {
  const patch = parse(options.patch);
  const copy = cloneJson(current) as UnstructuredObject;
  switch (options.type) {
    case 'json':
      return jsonPatched(copy, patch);
    case 'merge':
      return jsonMergePatch.apply(copy, checkedObject(patch)) as UnstructuredObject;
    default:
      return strategicMerge(copy, checkedObject(patch), options) as UnstructuredObject;
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw badRequest(
      `error decoding patch: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function checkedObject(patch: unknown): Record<string, unknown> {
  if (typeof patch === 'object' && patch !== null && !Array.isArray(patch)) {
    return patch as Record<string, unknown>;
  }
  throw badRequest(
    'error decoding patch: json: cannot unmarshal a value that is no object into Go value of type map[string]interface {}',
  );
}

function jsonPatched(object: UnstructuredObject, patch: unknown): UnstructuredObject {
  if (
    !Array.isArray(patch) ||
    patch.some((operation) => typeof operation !== 'object' || operation === null)
  ) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal a value that is no array into Go value of type jsonpatch.Patch',
    );
  }
  if (patch.length > MAX_OPERATIONS) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  const errors = applyJsonPatch(object, patch as Operation[]);
  const failure = errors.find((error) => error !== null);
  if (failure) throw unprocessable(`${failure.name}: ${failure.message}`);
  return object;
}

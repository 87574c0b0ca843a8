import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson, isJsonObject, mergePatch, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { StatusError } from '../errors/index.js';
import { badRequest, requestTooLarge, unprocessable } from '../errors/index.js';
import { checkValue, DocumentLimitError, JsonSyntaxError, readJsonText } from '../index.js';
import type { SchemaRegistry } from '../index.js';
import { CopyBudgetError } from './copy-budget.js';
import { applyJsonPatch, JsonPatchError } from './json-patch.js';
import type { JsonObject } from './json-pointer.js';
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

/** The result of a patch. */
interface Patched {
  readonly object: UnstructuredObject;
  /** The patch as it has been read; of a strategic merge, without the directives that were followed. */
  readonly patch: unknown;
}

/**
 * The object that comes out when a patch is applied to `current`, which stays as it is.
 * @throws StatusError 400 for a body that is no patch, 422 for one that does not fit the object, 413 for one that makes
 *   too much of it
 */
export function applyPatch(current: Readonly<UnstructuredObject>, options: PatchOptions): Patched {
  const patch = parse(options.patch, options.type);
  const object = uncheckedObject(patchedBy(patch, cloneJson<JsonObject>(current), options));
  return { object, patch };
}

function patchedBy(patch: unknown, copy: JsonObject, options: PatchOptions): JsonObject {
  switch (options.type) {
    case 'json':
      return jsonPatched(copy, patch);
    case 'merge':
      return mergePatch(copy, checkedObject(patch, MERGE)) as JsonObject;
    default:
      return strategicMerge(copy, checkedObject(patch, ''), options);
  }
}

/** The beginning of refusals; strategic merges have none. */
const MERGE = 'error decoding patch: ';

function parse(text: string, type: PatchOptions['type']): unknown {
  try {
    return readJsonText(text);
  } catch (error) {
    throw error instanceof JsonSyntaxError
      ? badRequest(`${type === 'strategic' ? '' : MERGE}${errorMessage(error)}`, error)
      : error;
  }
}

function checkedObject(patch: unknown, before: string): JsonObject {
  if (isJsonObject(patch)) return patch;
  throw notUnmarshalled(patch, 'map[string]interface {}', before);
}

function jsonPatched(object: JsonObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch)) throw notUnmarshalled(patch, '[]handlers.jsonPatchOp', MERGE);
  if (patch.length > MAX_OPERATIONS) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  const operations = patch.map(checkedOperation);
  try {
    const patched = applyJsonPatch(object, operations);
    checkValue(patched);
    return patched;
  } catch (error) {
    throw refusalOf(error);
  }
}

function checkedOperation(operation: unknown, index: number): JsonObject {
  if (isJsonObject(operation)) return operation;
  throw notUnmarshalled(operation, `jsonpatch.Operation of index ${index}`, MERGE);
}

function notUnmarshalled(value: unknown, goType: string, before: string): StatusError {
  const what = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return badRequest(`${before}json: cannot unmarshal ${what} into Go value of type ${goType}`);
}

/** A refusal that has to do with the document: another state of the object might have led elsewhere. */
function refusalOf(error: unknown): unknown {
  if (error instanceof JsonPatchError || error instanceof CopyBudgetError) return unprocessable(error);
  if (!(error instanceof DocumentLimitError)) return error;
  return error.limit === 'depth' ? unprocessable(error) : requestTooLarge(error.message);
}

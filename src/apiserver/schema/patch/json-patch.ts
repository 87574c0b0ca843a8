import { sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { CopyBudget } from './copy-budget.js';
import { findPlace, insertAt, PointerError, removeAt, replaceAt, valueAt } from './json-pointer.js';
import type { JsonObject, Place } from './json-pointer.js';

/** A patch that is well-formed and does not fit the document. */
export class JsonPatchError extends Error {}

/**
 * Carries out a JSON patch (RFC 6902), as the genuine server's library does: a field that is not there can be replaced,
 * negative indexes count from the end. The words are that library's as well. Changes `document`, and shares parts with
 * `operations`.
 * @throws JsonPatchError at the first operation that cannot be carried out
 * @throws CopyBudgetError
 */
export function applyJsonPatch(document: JsonObject, operations: readonly JsonObject[]): JsonObject {
  const budget = new CopyBudget();
  let patched = document;
  for (const operation of operations) patched = carryOut(patched, operation, budget);
  return patched;
}

function carryOut(document: JsonObject, operation: JsonObject, budget: CopyBudget): JsonObject {
  const { op, value = null } = operation;
  switch (op) {
    case 'add':
      attempt(operation, 'path', () => insertAt(placeOf(document, operation, 'path'), value));
      return document;
    case 'remove':
      attempt(operation, 'path', () => removeAt(placeOf(document, operation, 'path')));
      return document;
    case 'replace':
      if (operation['path'] === '') return whole(value);
      attempt(operation, 'path', () => replaceAt(placeOf(document, operation, 'path'), value));
      return document;
    case 'test':
      attempt(operation, 'path', () => test(document, operation, value));
      return document;
    case 'move':
    case 'copy':
      transfer(document, operation, budget);
      return document;
    default:
      throw new JsonPatchError(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`);
  }
}

function whole(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new JsonPatchError('replace operation value must be object or array');
}

function test(document: JsonObject, operation: JsonObject, value: unknown): void {
  const found = operation['path'] === '' ? document : (valueAt(placeOf(document, operation, 'path')) ?? null);
  if (!sameJson(found, value)) {
    throw new JsonPatchError(`testing value ${String(operation['path'])} failed: test failed`);
  }
}

function transfer(document: JsonObject, operation: JsonObject, budget: CopyBudget): void {
  const isCopy = operation['op'] === 'copy';
  const value = attempt(operation, 'from', () => {
    const source = placeOf(document, operation, 'from');
    const found = valueAt(source) ?? null;
    if (!isCopy) removeAt(source);
    return found;
  });
  attempt(operation, 'path', () => {
    const target = placeOf(document, operation, 'path');
    insertAt(target, isCopy ? budget.copy(value) : value);
  });
}

/** Adds the operation and its position to an error. */
function attempt<T>(operation: JsonObject, field: 'path' | 'from', work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PointerError)) throw error;
    const place = String(operation[field]);
    throw new JsonPatchError(
      `error in ${String(operation['op'])} for ${field}: '${place}': ${error.message}`,
      {
        cause: error,
      },
    );
  }
}

/** @throws JsonPatchError for what is no pointer, or leads nowhere */
function placeOf(document: JsonObject, operation: JsonObject, field: 'path' | 'from'): Place {
  const { op, [field]: pointer } = operation;
  if (typeof pointer !== 'string') {
    throw new JsonPatchError(`${String(op)} operation failed to decode ${field}: missing value`);
  }
  const place = findPlace(document, pointer);
  if (place) return place;
  throw new JsonPatchError(
    `${String(op)} operation does not apply: doc is missing ${field === 'from' ? 'from path' : 'path'}: ${JSON.stringify(pointer)}: missing value`,
  );
}

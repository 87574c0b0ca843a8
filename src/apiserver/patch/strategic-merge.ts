import { goValue, isJsonObject, isList, ownField, setField } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unexpected } from '../errors/index.js';
import type { ObjectSchema, SchemaRegistry } from '../schema/index.js';
import type { JsonObject } from './json-pointer.js';
import { checkOrder, mergeObjectList, mergeScalarList, without } from './merge-object-list.js';

/** Merges one JSON object, at a place that `schema` describes, with a patch. */
export type MergeObject = (
  original: JsonObject,
  patch: JsonObject,
  schema: ObjectSchema | undefined,
) => JsonObject;

export interface StrategicMergeOptions {
  readonly schemas: SchemaRegistry;
  /** Name of the schema of the patched object. */
  readonly schema: string;
}

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';

/**
 * Applies a strategic merge patch: like a JSON merge patch, but lists whose schema says so are merged by a key, and
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) steer it. Behaviour as
 * described in Kubernetes' "strategic merge patch" contributor page. May change `original`.
 * @throws StatusError 400 or 500 for a directive that cannot be followed, as the genuine server
 */
export function strategicMerge(
  original: JsonObject,
  patch: JsonObject,
  { schemas, schema }: StrategicMergeOptions,
): JsonObject {
  const resolve = (found: ObjectSchema | undefined): ObjectSchema | undefined => {
    let current = found;
    while (current?.type === 'ref' && current.ref !== undefined) current = schemas.get(current.ref);
    return current;
  };
  const merge: MergeObject = (into, from, place) => mergeObject(into, from, resolve(place), merge, resolve);
  return merge(original, patch, schemas.get(schema));
}

function mergeObject(
  original: JsonObject,
  patch: JsonObject,
  schema: ObjectSchema | undefined,
  merge: MergeObject,
  resolve: (found: ObjectSchema | undefined) => ObjectSchema | undefined,
): JsonObject {
  switch (patch[DIRECTIVE]) {
    case undefined:
      break;
    case 'replace':
      return withoutDirectives(patch);
    case 'delete':
      return {};
    default:
      throw unexpected(`unknown patch type: ${goValue(patch[DIRECTIVE])} in map: ${goValue(patch)}`);
  }
  if (Object.hasOwn(patch, RETAIN_KEYS)) retainOnly(original, patch);
  for (const field of fieldsOf(patch)) {
    const place = schema?.type === 'map' ? schema.items : ownField(schema?.properties, field);
    const value = ownField(patch, field);
    const before = ownField(original, field);
    if (value === null) delete original[field];
    else if (isList(value) || value === undefined)
      mergeListField(original, patch, field, place, merge, resolve);
    else if (!isJsonObject(value)) setField(original, field, value);
    else if (before === undefined) {
      if (!Object.hasOwn(value, DIRECTIVE)) setField(original, field, withoutDirectives(value));
    } else if (!isJsonObject(before) || strategyOf(place) === 'replace') {
      if (value[DIRECTIVE] === 'delete') delete original[field];
      else setField(original, field, withoutDirectives(value));
    } else setField(original, field, merge(before, value, place));
  }
  return original;
}

function mergeListField(
  original: JsonObject,
  patch: JsonObject,
  field: string,
  place: ObjectSchema | undefined,
  merge: MergeObject,
  resolve: (found: ObjectSchema | undefined) => ObjectSchema | undefined,
): void {
  const value = ownField(patch, field);
  const changed = isList(value) ? value : undefined;
  const old = ownField(original, field);
  const before = isList(old) ? old : [];
  const order = directiveList(patch, SET_ORDER, field);
  const removed = directiveList(patch, DELETE_FROM, field);
  const list = resolve(place);
  const merged = strategyOf(place) === 'merge' || strategyOf(list) === 'merge';
  if (!merged) {
    if (changed) setField(original, field, changed.map(plain));
    else if (removed) setField(original, field, without(before, removed));
    return;
  }
  const key = place?.patchMergeKey ?? list?.patchMergeKey;
  if (changed && order) checkOrder(changed, order, key);
  // Where there was nothing, nothing is merged either.
  if (old === undefined && changed && !order) {
    setField(original, field, removed ? without(changed.map(plain), removed) : plain(changed));
    return;
  }
  const mergedList =
    key === undefined
      ? mergeScalarList(before, changed ?? [], { order, removed })
      : mergeObjectList(before, changed ?? [], {
          key,
          order,
          mergeItem: (into, from) => merge(into, from, list?.items),
          plain: withoutDirectives,
        });
  setField(original, field, mergedList);
}

function strategyOf(schema: ObjectSchema | undefined): 'merge' | 'replace' | undefined {
  const strategy = schema?.patchStrategy;
  if (strategy === undefined || strategy === 'retainKeys') return undefined;
  return strategy === 'replace' ? 'replace' : 'merge';
}

/** The fields that a patch is about, those that only a directive names included. */
function fieldsOf(patch: JsonObject): Set<string> {
  const fields = new Set<string>();
  for (const name of Object.keys(patch)) {
    if (name === DIRECTIVE || name === RETAIN_KEYS) continue;
    if (name.startsWith(SET_ORDER)) fields.add(name.slice(SET_ORDER.length));
    else if (name.startsWith(DELETE_FROM)) fields.add(name.slice(DELETE_FROM.length));
    else fields.add(name);
  }
  return fields;
}

function directiveList(patch: JsonObject, prefix: string, field: string): unknown[] | undefined {
  const value = patch[prefix + field];
  if (value === undefined) return undefined;
  if (!isList(value)) throw badRequest(`${prefix}${field} is not a list`);
  return value;
}

function retainOnly(original: JsonObject, patch: JsonObject): void {
  const list = patch[RETAIN_KEYS];
  if (!isList(list)) throw badRequest(`${RETAIN_KEYS} is not a list`);
  const keys = new Set(list);
  const stray = Object.keys(patch).find(
    (name) => name !== RETAIN_KEYS && !name.startsWith('$') && patch[name] !== null && !keys.has(name),
  );
  if (stray !== undefined) {
    throw badRequest(`${RETAIN_KEYS} directive must contain all fields in the patch: ${stray} is missing`);
  }
  for (const name of Object.keys(original)) if (!keys.has(name)) delete original[name];
}

/**
 * A value of a patch as it is stored where there was nothing before: nothing with a `$patch`, no nulls that delete. Other
 * directives stay, as in a genuine server, and are unknown fields then.
 */
function withoutDirectives(patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(patch)) {
    if (name === DIRECTIVE || value === null) continue;
    if (isDirected(value)) continue;
    setField(result, name, plain(value));
  }
  return result;
}

function plain(value: unknown): unknown {
  if (isList(value)) {
    return value.filter((item) => !isDirected(item)).map(plain);
  }
  return isJsonObject(value) ? withoutDirectives(value) : value;
}

/** No directive has an effect where there is nothing to steer. */
function isDirected(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, DIRECTIVE);
}

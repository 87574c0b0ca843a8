import { isJsonObject, isList, ownField, setField } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unexpected } from '../errors/index.js';
import type { ObjectSchema, SchemaRegistry } from '../index.js';
import type { JsonObject } from './json-pointer.js';
import {
  badType,
  checkOrder,
  elementType,
  keyIn,
  LIST,
  mergeObjectList,
  mergeScalarList,
  OBJECT,
  orderMerged,
  unknownDirective,
  without,
} from './merge-object-list.js';

/** Merges one JSON object, at a place that `schema` describes, with a patch. */
type MergeObject = (original: JsonObject, patch: JsonObject, schema: ObjectSchema | undefined) => JsonObject;

interface StrategicMergeOptions {
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
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) steer it. May change `original`, and
 * takes the directives out of the patch as it follows them, like the genuine server, whose refusals show the rest. Source of the
 * rules: `mergeMap` in k/k staging/src/k8s.io/apimachinery/pkg/util/strategicpatch.
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

type Resolve = (found: ObjectSchema | undefined) => ObjectSchema | undefined;

function mergeObject(
  original: JsonObject,
  patch: JsonObject,
  schema: ObjectSchema | undefined,
  merge: MergeObject,
  resolve: Resolve,
): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive !== undefined) return directed(directive, patch);
  if (Object.hasOwn(patch, RETAIN_KEYS)) retainOnly(original, patch);
  const lists: ListFields = { original, patch, resolve, merge, schema };
  for (const name of Object.keys(patch)) if (name.startsWith(SET_ORDER)) mergeInOrder(lists, name);
  const names = Object.keys(patch);
  for (const field of names)
    if (!field.startsWith(DELETE_FROM)) mergeField(original, patch[field], field, lists);
  for (const name of names) if (name.startsWith(DELETE_FROM)) deleteFrom(lists, name);
  return original;
}

/** A map with a directive of its own is nothing but that. */
function directed(directive: unknown, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownDirective(directive, patch);
  delete patch[DIRECTIVE];
  return patch;
}

/** An object, its patch, and what is known of them, of which one list is merged. */
interface ListFields {
  readonly original: JsonObject;
  readonly patch: JsonObject;
  readonly schema: ObjectSchema | undefined;
  readonly merge: MergeObject;
  readonly resolve: Resolve;
}

function mergeField(original: JsonObject, value: unknown, field: string, lists: ListFields): void {
  const place = placeOf(lists.schema, field);
  const before = ownField(original, field);
  if (value === null) delete original[field];
  else if (isList(value)) {
    if (isList(before)) setField(original, field, mergedList(before, value, field, lists));
    else setField(original, field, plain(value));
  } else if (!isJsonObject(value)) setField(original, field, value);
  else if (isJsonObject(before)) {
    const isReplaced = strategyOf(place) === 'replace';
    setField(original, field, isReplaced ? value : lists.merge(before, value, place));
  } else if (!isDirected(value)) setField(original, field, withoutDirectives(value));
  else if (value[DIRECTIVE] === 'delete') delete original[field];
  else if (before !== undefined) setField(original, field, withoutDirectives(value));
}

function placeOf(schema: ObjectSchema | undefined, field: string): ObjectSchema | undefined {
  return schema?.type === 'map' ? schema.items : ownField(schema?.properties, field);
}

/** How a list is merged: by which key, if at all. */
function mergingOf(
  field: string,
  { resolve, schema }: ListFields,
): { readonly isMerged: boolean; readonly key?: string; readonly items?: ObjectSchema } {
  const place = placeOf(schema, field);
  const list = resolve(place);
  const isMerged = strategyOf(place) === 'merge' || strategyOf(list) === 'merge';
  const key = place?.patchMergeKey ?? list?.patchMergeKey;
  return { isMerged, ...(key !== undefined && { key }), ...(list?.items && { items: list.items }) };
}

/** A list that has no merge strategy is taken as it is, directives included, which are unknown fields then. */
function mergedList(
  before: unknown[],
  changed: readonly unknown[],
  field: string,
  lists: ListFields,
  order?: readonly unknown[],
): readonly unknown[] {
  const { isMerged, items, key } = mergingOf(field, lists);
  if (!isMerged) return changed;
  if (before.length + changed.length === 0) return before;
  const type = elementType([before, changed]);
  if (type !== OBJECT && key === undefined) return mergeScalarList(before, changed, order);
  if (key === undefined) throw unexpected('cannot merge lists without merge key for type struct');
  if (type !== OBJECT) throw badType(OBJECT, [...before, ...changed][0]);
  return mergeObjectList(before as JsonObject[], changed as JsonObject[], {
    ...{ key, order, plain: withoutDirectives },
    mergeItem: (into, from) => lists.merge(into, from, items),
  });
}

/** Merges a list for which the patch has an order, and takes both out of the patch. */
function mergeInOrder(lists: ListFields, name: string): void {
  const { original, patch } = lists;
  const order = patch[name];
  delete patch[name];
  if (!isList(order)) throw badType(LIST, order);
  const field = name.slice(SET_ORDER.length);
  const [before, changed] = [ownField(original, field), ownField(patch, field)];
  if (before !== undefined && !isList(before)) throw badType(LIST, before);
  if (changed !== undefined && !isList(changed)) throw badType(LIST, changed);
  const { isMerged, key } = mergingOf(field, lists);
  checkOrder(changed ?? [], order, key);
  if (!before && !changed) return;
  if (before && changed && isMerged)
    setField(original, field, mergedList(before, changed, field, lists, order));
  else {
    const list = changed ?? before ?? [];
    elementType([before ?? [], changed ?? []]);
    const keyOf = (item: unknown): unknown => (key === undefined ? item : keyIn(item, key));
    const ordered = orderMerged(list, (before ?? []).map(keyOf), order.map(keyOf), keyOf);
    setField(original, field, before ? ordered : plain(ordered));
  }
  delete patch[field];
}

/** `$deleteFromPrimitiveList/…`: says nothing where there is no list. */
function deleteFrom({ original, patch, ...known }: ListFields, name: string): void {
  const field = name.slice(DELETE_FROM.length);
  const [before, removed] = [ownField(original, field), patch[name]];
  if (removed === null) delete original[field];
  if (!isList(before) || !isList(removed)) return;
  const { isMerged } = mergingOf(field, { original, patch, ...known });
  setField(original, field, isMerged ? without(before, removed) : removed);
}

function strategyOf(schema: ObjectSchema | undefined): 'merge' | 'replace' | undefined {
  const strategy = schema?.patchStrategy;
  if (strategy === undefined || strategy === 'retainKeys') return undefined;
  return strategy === 'replace' ? 'replace' : 'merge';
}

function retainOnly(original: JsonObject, patch: JsonObject): void {
  const list = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  const keys = isList(list) ? new Set(list) : undefined;
  const isNamed = (name: string): boolean =>
    patch[name] === null || name.startsWith(DELETE_FROM) || name.startsWith(SET_ORDER) || !!keys?.has(name);
  if (!keys || !Object.keys(patch).every(isNamed)) throw badRequest('invalid patch format of retainKeys');
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

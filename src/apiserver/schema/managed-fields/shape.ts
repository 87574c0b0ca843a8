import { ownField, setField, stringifyJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { ObjectSchema, SchemaRegistry, StructuralSchema } from '../index.js';

/** How ownership looks at a value of some type: as one, field by field, or item by item. */
export type Shape =
  | { readonly kind: 'atomic' }
  | {
      readonly kind: 'struct';
      readonly field: (name: string) => Shape | undefined;
      /** Name of the schema of a whole type. */
      readonly type?: string;
      /** Its fields that Go always writes, as they are when empty. */
      readonly always?: Readonly<Record<string, unknown>>;
    }
  /** `deduced`: not declared as a map, so a value that is none counts as a whole. */
  | { readonly kind: 'map'; readonly item: Shape; readonly deduced?: true }
  | {
      readonly kind: 'list';
      readonly keys: readonly string[];
      readonly item: Shape;
      /** Keys that items may leave out. @default those of the published types */
      readonly defaults?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'set' };

const ATOMIC: Shape = { kind: 'atomic' };

/** Keys of list items that may be left out. Source: `default` of the published OpenAPI document. */
const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP' };

/** Keyed by the schema itself, because a name may be redefined. */
const shapes = new WeakMap<SchemaRegistry, WeakMap<ObjectSchema, Shape>>();

/** The shape of the type of that name; unknown types count as one value. */
export function shapeOfType(schemas: SchemaRegistry, name: string): Shape {
  let known = shapes.get(schemas);
  if (!known) shapes.set(schemas, (known = new WeakMap()));
  const schema = schemas.get(name);
  if (!schema) return ATOMIC;
  let shape = known.get(schema);
  if (!shape) {
    const made = makeShape(schemas, schema, schemas.goFacts(name).always);
    known.set(schema, (shape = made.kind === 'struct' ? { ...made, type: name } : made));
  }
  return shape;
}

function makeShape(
  schemas: SchemaRegistry,
  schema: ObjectSchema | undefined,
  always?: Readonly<Record<string, unknown>>,
): Shape {
  if (!schema || schema.mapType === 'atomic') return ATOMIC;
  switch (schema.type) {
    case 'ref':
      return schema.mapType === 'granular'
        ? granularShape(schemas, schema.ref ?? '')
        : shapeOfType(schemas, schema.ref ?? '');
    case 'object':
      if (schema.structural) return customShape(schemas, schema, schema.structural);
      return schema.properties
        ? {
            ...structShape((field) => makeShape(schemas, field), schema.properties),
            ...(always && { always }),
          }
        : ATOMIC;
    case 'map':
      return { kind: 'map', item: makeShape(schemas, schema.items) };
    case 'array':
      if (schema.listType === 'set') return { kind: 'set' };
      return schema.listType === 'map' && schema.listMapKeys
        ? { kind: 'list', keys: [...schema.listMapKeys].sort(), item: makeShape(schemas, schema.items) }
        : ATOMIC;
    default:
      return ATOMIC;
  }
}

/** Field by field in this place, although its type counts as one value elsewhere. */
function granularShape(schemas: SchemaRegistry, name: string): Shape {
  const schema = schemas.get(name);
  return makeShape(schemas, schema && { ...schema, mapType: 'granular' }, schemas.goFacts(name).always);
}

/** Types refer to each other, some to themselves, so the shape of a field is made when it is asked for. */
function structShape<T>(
  shapeOf: (field: T) => Shape,
  properties: Readonly<Record<string, T>>,
  others?: Shape,
): Shape {
  const fields = new Map<string, Shape>();
  const field = (name: string): Shape | undefined => {
    const known = fields.get(name);
    if (known) return known;
    const property = ownField(properties, name);
    if (property === undefined) return others;
    const shape = shapeOf(property);
    fields.set(name, shape);
    return shape;
  };
  return { kind: 'struct', field };
}

/**
 * Undescribed values: maps entry by entry, all else as one. Source: `DeducedParseableType` of structured-merge-diff.
 */
const DEDUCED: Shape = {
  kind: 'map',
  deduced: true,
  get item() {
    return DEDUCED;
  },
};

/** The root of a custom resource: what every object has comes from the server, the rest from the user. */
function customShape(schemas: SchemaRegistry, schema: ObjectSchema, structural: StructuralSchema): Shape {
  const own = structShape((field: ObjectSchema) => makeShape(schemas, field), schema.properties ?? {});
  const rest = structuralShape(structural);
  const field = (name: string): Shape | undefined =>
    (own.kind === 'struct' ? own.field(name) : undefined) ??
    (rest.kind === 'struct' ? rest.field(name) : undefined);
  return { kind: 'struct', field };
}

function structuralShape(schema: StructuralSchema): Shape {
  if (schema['x-kubernetes-map-type'] === 'atomic') return ATOMIC;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const { properties, additionalProperties, items } = schema;
  if (schema.type === 'array') {
    const listType = schema['x-kubernetes-list-type'];
    if (listType === 'set') return { kind: 'set' };
    const keys = schema['x-kubernetes-list-map-keys'];
    return listType === 'map' && keys && items
      ? {
          kind: 'list',
          keys: [...keys].sort(),
          item: structuralShape(items),
          defaults: structuralKeyDefaults(items, keys),
        }
      : ATOMIC;
  }
  if (typeof additionalProperties === 'object')
    return { kind: 'map', item: structuralShape(additionalProperties) };
  if (properties) return structShape(structuralShape, properties, isOpen ? DEDUCED : undefined);
  if (isOpen || additionalProperties === true) return DEDUCED;
  return ATOMIC;
}

/** The defaults of the keys of list items. */
export function structuralKeyDefaults(
  items: StructuralSchema,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  const defaults: Record<string, unknown> = {};
  for (const key of keys) {
    const value: unknown = ownField(items.properties, key)?.default;
    if (value !== undefined) setField(defaults, key, value);
  }
  return defaults;
}

/** The path element of a list's item. */
export function elementOf(item: unknown, shape: Extract<Shape, { kind: 'list' | 'set' }>): string {
  if (shape.kind === 'set') return `v:${stringifyJson(item)}`;
  const fields = isJsonObject(item) ? item : {};
  const keys: Record<string, unknown> = {};
  const always = shape.item.kind === 'struct' ? shape.item.always : undefined;
  for (const name of shape.keys) {
    const value =
      ownField(fields, name) ?? ownField(shape.defaults ?? KEY_DEFAULTS, name) ?? ownField(always, name);
    if (value !== undefined) setField(keys, name, value);
  }
  return `k:${stringifyJson(keys)}`;
}

/** The items by their path element; of two with the same one the first counts. */
export function itemsByElement(
  list: unknown,
  shape: Extract<Shape, { kind: 'list' | 'set' }>,
): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const item of Array.isArray(list) ? list : []) {
    const element = elementOf(item, shape);
    if (!found.has(element)) found.set(element, item);
  }
  return found;
}

/** The shape of a value; deduced from the value if it is not described. */
export function shapeOfValue(shape: Shape, value: unknown): Shape {
  if (shape.kind !== 'map' || !shape.deduced) return shape;
  return value === undefined || value === null || isJsonObject(value) ? shape : ATOMIC;
}

/** Whether there is nothing in a struct, map or list: it is absent, null, empty, or something else. */
export function isHollow(value: unknown, shape: Shape): boolean {
  if (shape.kind === 'list' || shape.kind === 'set') return !Array.isArray(value) || value.length === 0;
  if (!isJsonObject(value)) return true;
  for (const _name in value) return false;
  return true;
}

/** The type that a shape is of, where it is a whole one. */
export function typeOf(shape: Shape): { readonly type?: string } {
  return shape.kind === 'struct' && shape.type !== undefined ? { type: shape.type } : {};
}

import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { fieldDecoder } from './field-decoder.js';
import type { FieldDecoder } from './field-decoder.js';
import type { SchemaRegistry } from './object-schema.js';

/**
 * Adds to an object that is right what Go writes of its empty fields: structs as `{}`, lists and times as null. Done last,
 * so that nothing that looks at an object before has to expect a null.
 * @param stored its state so far: the parts that both share are complete
 */
export function writeEmpties(
  object: UnstructuredObject,
  schemas: SchemaRegistry,
  schemaName: string,
  stored?: Readonly<UnstructuredObject>,
): void {
  const decoder = fieldDecoder(schemas, schemaName);
  for (const [name, field] of nestedOf(decoder)) {
    const value = object[name];
    if (value !== undefined && value !== stored?.[name]) write(value, field);
  }
  addMissing(object, decoder);
}

const emptyObjects = new WeakMap<FieldDecoder, Readonly<Record<string, unknown>>>();

/** An object of a type with nothing in it, as Go writes it. Shared, and never changed. */
export function emptyObjectOf(
  schemas: SchemaRegistry,
  schemaName: string,
): Readonly<Record<string, unknown>> {
  const decoder = fieldDecoder(schemas, schemaName);
  let empty = emptyObjects.get(decoder);
  if (!empty) {
    const object = {};
    addMissing(object, decoder);
    emptyObjects.set(decoder, (empty = object));
  }
  return empty;
}

function writeStruct(object: Record<string, unknown>, decoder: FieldDecoder): void {
  const below = nestedOf(decoder);
  if (below.size > 0)
    for (const name in object) {
      const field = below.get(name);
      if (field) write(object[name], field);
    }
  addMissing(object, decoder);
}

function addMissing(object: Record<string, unknown>, decoder: FieldDecoder): void {
  for (const { name, struct, value } of decoder.always) {
    if (object[name] !== undefined) continue;
    if (struct) writeStruct((object[name] = {}), struct);
    else object[name] = value;
  }
}

function write(value: unknown, decoder: FieldDecoder): void {
  if (decoder.kind === 'object') {
    if (isJsonObject(value)) writeStruct(value, decoder);
    return;
  }
  const { items } = decoder;
  if (!items) return;
  if (Array.isArray(value)) for (const item of value) write(item, items);
  else if (isJsonObject(value)) for (const key in value) write(value[key], items);
}

type Nested = ReadonlyMap<string, FieldDecoder>;

const nested = new WeakMap<FieldDecoder, Nested>();

/** The properties below which anything could be missing: nothing else is looked at. */
function nestedOf(decoder: FieldDecoder): Nested {
  let found = nested.get(decoder);
  if (!found) {
    const entries = [...decoder.properties].filter(([, field]) => hasEmpties(field, new Set([decoder])));
    nested.set(decoder, (found = new Map(entries)));
  }
  return found;
}

/** @param seen types that are being looked at: they refer to themselves */
function hasEmpties(field: FieldDecoder, seen: Set<FieldDecoder>): boolean {
  let decoder = field;
  while (decoder.items) decoder = decoder.items;
  if (decoder.kind !== 'object' || seen.has(decoder)) return false;
  seen.add(decoder);
  if (decoder.always.length > 0) return true;
  for (const property of decoder.properties.values()) if (hasEmpties(property, seen)) return true;
  return false;
}

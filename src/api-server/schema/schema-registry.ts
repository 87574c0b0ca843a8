import { readFileSync } from 'node:fs';
import { parseJson } from '../../kubernetes/index.js';
import { DESCRIPTIONS } from './descriptions.js';
import { ATOMIC_MAPS, ATOMIC_OBJECTS, MERGE_FACTS } from './merge-facts.js';
import type { ObjectSchema, SchemaRegistry } from './object-schema.js';

const GENERATED = new URL('generated/schemas.json', import.meta.url);

/** Reads the generated schemas (once a call) and adds the merge facts and descriptions. */
export function createSchemaRegistry(): SchemaRegistry {
  const generated = parseJson(readFileSync(GENERATED, 'utf8')) as Record<string, ObjectSchema>;
  const schemas = new Map(
    Object.entries(generated).map(([name, schema]) => [name, withFacts(name, schema)] as const),
  );
  return { get: (name) => schemas.get(name), names: [...schemas.keys()] };
}

function withFacts(name: string, schema: ObjectSchema): ObjectSchema {
  const description = DESCRIPTIONS[name]?.[''];
  const own: ObjectSchema = {
    ...schema,
    ...(description !== undefined && { description }),
    ...(ATOMIC_OBJECTS.has(name) && { mapType: 'atomic' as const }),
  };
  if (!schema.properties) return own;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([property, shape]) => [
      property,
      propertyWithFacts(name, property, shape),
    ]),
  );
  return { ...own, properties };
}

function propertyWithFacts(name: string, property: string, shape: ObjectSchema): ObjectSchema {
  const description = DESCRIPTIONS[name]?.[property];
  return {
    ...shape,
    ...MERGE_FACTS[name]?.[property],
    ...(ATOMIC_MAPS[name]?.includes(property) && { mapType: 'atomic' as const }),
    ...(description !== undefined && { description }),
  };
}

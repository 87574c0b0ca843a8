// How lists and objects merge, for strategic merge patch and server-side apply: put together, and checked.
import { PLAIN_FIELDS, POINTER_TEXTS } from './go-facts.mjs';
import { ATOMIC_MAPS, ATOMIC_TYPES, NEWER_MERGE_FACTS } from './newer-merge-facts.mjs';
import { readOldMergeFacts } from './old-swagger.mjs';

/**
 * The shapes with their merge facts. What an old document and our table of newer facts say both, must be different:
 * else the table is longer than it has to be. A fact about a field that is not there is an error.
 */
export function withMergeFacts(shapes) {
  const old = readOldMergeFacts();
  const result = JSON.parse(JSON.stringify(shapes));
  for (const [name, schema] of Object.entries(result)) {
    for (const [property, shape] of Object.entries(schema.properties ?? {})) {
      // Some marks of old stood at fields that cannot be merged.
      if (shape.properties || shape.type === 'array' || shape.type === 'ref' || shape.type === 'map')
        Object.assign(shape, completed(old[name]?.[property] ?? {}));
    }
  }
  const find = (name, property) => {
    const shape = property === undefined ? result[name] : result[name]?.properties?.[property];
    if (!shape) throw new Error(`newer-merge-facts: there is no ${name}${property ? `: ${property}` : ''}`);
    return shape;
  };
  for (const [name, fields] of Object.entries(NEWER_MERGE_FACTS)) {
    for (const [property, facts] of Object.entries(fields)) {
      const shape = find(name, property);
      const after = { ...shape, ...facts };
      if (JSON.stringify(after) === JSON.stringify(shape))
        throw new Error(`newer-merge-facts: what is said of ${name}: ${property} is known already`);
      Object.assign(shape, facts);
    }
  }
  for (const name of ATOMIC_TYPES) find(name).mapType = 'atomic';
  const mark = (table, facts) => {
    for (const [name, properties] of Object.entries(table))
      for (const property of properties) Object.assign(find(name, property), facts);
  };
  mark(ATOMIC_MAPS, { mapType: 'atomic' });
  mark(PLAIN_FIELDS, { omitZero: true });
  mark(POINTER_TEXTS, { keepEmpty: true });
  return result;
}

/**
 * Server-side apply is younger than the old document, and merges nearly all lists as strategic patches do: lists with
 * a merge key by that key, and merged lists of scalars as sets.
 */
function completed(facts) {
  const { patchStrategy = '', patchMergeKey, listType, listMapKeys } = facts;
  if (listType || !patchStrategy.includes('merge')) return facts;
  return patchMergeKey
    ? { ...facts, listType: 'map', listMapKeys: listMapKeys ?? [patchMergeKey] }
    : { ...facts, listType: 'set' };
}

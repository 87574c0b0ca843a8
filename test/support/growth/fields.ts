import type { KindDefinition, SchemaRegistry } from '../../../src/apiserver/index.js';

/** How a type is described. */
export type ObjectSchema = NonNullable<ReturnType<SchemaRegistry['get']>>;

/** A list, map or text that a user may make as long as a request. */
export interface GrowingField {
  /** `io.k8s.api.core.v1.PodSpec.tolerations` */
  readonly name: string;
  readonly kind: KindDefinition;
  readonly sort: 'list' | 'map' | 'text';
  /** From the object to the field; a number is a place in a list, `''` any key of a map. */
  readonly path: readonly (string | number)[];
}

type Sort = GrowingField['sort'];

const SORTS: Readonly<Partial<Record<ObjectSchema['type'], Sort>>> = {
  array: 'list',
  map: 'map',
  string: 'text',
};

/**
 * Each list, map and text field of the types that the kinds consist of. A field of a type that several kinds share is
 * there once, in the first of them that leads to it on the shortest way.
 */
export function growingFields(kinds: readonly KindDefinition[], schemas: SchemaRegistry): GrowingField[] {
  const found = new Map<string, GrowingField>();
  for (const kind of kinds) {
    if (kind.schema === undefined) continue;
    const visited = new Set<string>();
    const queue: { schema: ObjectSchema; owner: string; path: readonly (string | number)[] }[] = [
      { schema: { type: 'ref', ref: kind.schema }, owner: kind.schema, path: [] },
    ];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { owner, path, schema } = next;
      const sort = SORTS[schema.type];
      if (sort && !found.has(owner)) found.set(owner, { name: owner, kind, sort, path });
      if (schema.type === 'ref') {
        const target = schemas.get(schema.ref ?? '');
        if (!target || visited.has(schema.ref!)) continue;
        visited.add(schema.ref!);
        queue.push({ schema: target, owner: schema.ref!, path });
      }
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        if (path.length === 0 && (name === 'apiVersion' || name === 'kind')) continue;
        queue.push({ schema: property, owner: `${owner}.${name}`, path: [...path, name] });
      }
      const step = schema.type === 'map' ? '' : 0;
      if (schema.items) queue.push({ schema: schema.items, owner: `${owner}[]`, path: [...path, step] });
    }
  }
  return [...found.values()];
}

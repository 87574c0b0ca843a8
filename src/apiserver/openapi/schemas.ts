import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { toOpenApiSchema } from './to-openapi-schema.js';
import type { OpenApiSchema, OpenApiVersion } from './openapi-schema.js';

/** Makes the schema of a name, each when it is asked for; undefined when there is none. */
export type OpenApiSchemas = (name: string) => OpenApiSchema | undefined;

/** The schemas of the registry and the lists of all kinds, by name, each kind's with its group, version and kind. */
export function openApiSchemas(
  kinds: KindRegistry,
  schemas: SchemaRegistry,
  version: OpenApiVersion,
): OpenApiSchemas {
  const described = new Map(kinds.kinds.map((kind) => [kind.schema, kind]));
  // Where two kinds have one schema, its list is the first one's.
  const listed = new Map([...kinds.kinds].reverse().map((kind) => [`${kind.schema}List`, kind]));
  return (name) => {
    const schema = schemas.get(name);
    const list = listed.get(name);
    if (!schema) return list && listSchema(list, version);
    const made = toOpenApiSchema(schema, version, schemas.describe(name));
    const type = described.get(name)?.type;
    if (!type) return made;
    const { group, version: apiVersion, kind } = type;
    return { ...made, 'x-kubernetes-group-version-kind': [{ group, version: apiVersion, kind }] };
  };
}

/** Whether a definition of a user's has made the kind: it comes and goes, and brings its own schema. */
export function isUserDefined({ schema }: KindDefinition, schemas: SchemaRegistry): boolean {
  return schemas.get(schema)?.structural !== undefined;
}

function listSchema(kind: KindDefinition, version: OpenApiVersion): OpenApiSchema {
  const prefix = version === 2 ? '#/definitions/' : '#/components/schemas/';
  return {
    type: 'object',
    description: `${kind.type.kind}List is a list of ${kind.type.kind}.`,
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: `${prefix}io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta` },
      items: { type: 'array', items: { $ref: `${prefix}${kind.schema}` } },
    },
    'x-kubernetes-group-version-kind': [
      { group: kind.type.group, version: kind.type.version, kind: kind.listKind },
    ],
  };
}

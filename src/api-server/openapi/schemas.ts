import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { toOpenApiSchema } from './to-openapi-schema.js';
import type { OpenApiSchema, OpenApiVersion } from './to-openapi-schema.js';

/** All schemas of the registry and the lists of all kinds, by name, each kind's with its group, version and kind. */
export function openApiSchemas(
  kinds: KindRegistry,
  schemas: SchemaRegistry,
  version: OpenApiVersion,
): Record<string, OpenApiSchema> {
  const result: Record<string, OpenApiSchema> = {};
  for (const name of schemas.names) {
    const schema = schemas.get(name);
    if (schema) result[name] = toOpenApiSchema(schema, version, schemas.describe(name));
  }
  for (const kind of kinds.kinds) {
    const { group, version: apiVersion, kind: name } = kind.type;
    const own = result[kind.schema];
    if (own) own['x-kubernetes-group-version-kind'] = [{ group, version: apiVersion, kind: name }];
    result[`${kind.schema}List`] ??= listSchema(kind, version);
  }
  return result;
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

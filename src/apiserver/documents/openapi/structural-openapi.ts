import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../schema/index.js';
import type { OpenApiSchema, OpenApiVersion } from './openapi-schema.js';

type Identity = Readonly<Record<string, OpenApiSchema>>;

/**
 * A custom resource's schema in an OpenAPI document: in version 2 without what it cannot express. Source: buildKubeNative
 * in apiextensions-apiserver/pkg/controller/openapi/builder.
 * @param identity apiVersion, kind and metadata, which every object has
 */
export function structuralOpenApi(
  schema: StructuralSchema,
  identity: Identity,
  version: OpenApiVersion,
): OpenApiSchema {
  // Clients would take any property that is described for the only ones.
  if (version === 2 && isOpen(schema)) return { type: 'object' };
  const own = published(version === 2 ? toVersion2(schema) : schema, identity, version);
  return { ...own, type: 'object', properties: { ...own.properties, ...identity } };
}

function isOpen(schema: StructuralSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** They are the same words; the types of the two only come from different places. */
function asOpenApi(schema: StructuralSchema): OpenApiSchema {
  return schema as unknown as OpenApiSchema;
}

/** With the fields that a whole resource has within another one, which its schema need not name. */
function published(schema: StructuralSchema, identity: Identity, version: OpenApiVersion): OpenApiSchema {
  const made = asOpenApi(withParts(schema, (part) => published(part, identity, version) as StructuralSchema));
  if (schema['x-kubernetes-embedded-resource'] !== true || (version === 2 && isOpen(schema))) return made;
  return {
    ...made,
    required: [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])],
    properties: {
      ...made.properties,
      apiVersion: { ...identity.apiVersion, description: EMBEDDED_API_VERSION },
      kind: { ...identity.kind, description: EMBEDDED_KIND },
      ...(identity.metadata && { metadata: identity.metadata }),
    },
  };
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
const EMBEDDED_API_VERSION = `apiVersion defines the versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`;
const EMBEDDED_KIND = `kind is a string value representing the type of this object. In CamelCase. More info: ${CONVENTIONS}#types-kinds`;

/** The schema with `change` applied to the schemas of its values. */
function withParts(
  schema: StructuralSchema,
  change: (part: StructuralSchema) => StructuralSchema,
): StructuralSchema {
  const { additionalProperties, items, properties } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, change(property)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: change(additionalProperties) }),
    ...(items && { items: change(items) }),
  };
}

/** Keywords that version 2 does not have. */
const JUNCTORS = ['oneOf', 'anyOf', 'allOf', 'not'] as const;

/** Source: ToStructuralOpenAPIV2 in apiextensions-apiserver/pkg/controller/openapi/v2. */
function toVersion2(schema: StructuralSchema): StructuralSchema {
  const kept = { ...schema };
  for (const keyword of JUNCTORS) delete kept[keyword];
  if (kept.nullable || isOpen(kept)) {
    delete kept.items;
    delete kept.properties;
  }
  const loses =
    kept.nullable === true ||
    (kept.type === 'array' && !kept.items) ||
    (isOpen(kept) && kept.type === 'object');
  if (loses) delete kept.type;
  delete kept.nullable;
  const required = requiredIn2(kept);
  if (required.length > 0) kept.required = required;
  else delete kept.required;
  return withParts(kept, toVersion2);
}

/** In version 2, a field that may be null cannot be required. */
function requiredIn2({ additionalProperties, properties, required = [] }: StructuralSchema): string[] {
  if (typeof additionalProperties === 'object' && additionalProperties.nullable) return [];
  return required.filter((name) => ownField(properties, name)?.nullable !== true);
}

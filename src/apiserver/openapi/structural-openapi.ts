import type { StructuralSchema } from '../schema/index.js';
import type { OpenApiSchema, OpenApiVersion } from './openapi-schema.js';

/**
 * A custom resource's schema in an OpenAPI document: unchanged in version 3; in version 2 without what it cannot
 * express.
 * @param identity apiVersion, kind and metadata, which every object has
 */
export function structuralOpenApi(
  schema: StructuralSchema,
  identity: Readonly<Record<string, OpenApiSchema>>,
  version: OpenApiVersion,
): OpenApiSchema {
  const own = version === 2 ? toVersion2(schema) : asOpenApi(schema);
  return { ...own, type: 'object', properties: { ...own.properties, ...identity } };
}

/** They are the same words; the types of the two only come from different places. */
function asOpenApi(schema: StructuralSchema): OpenApiSchema {
  return schema as unknown as OpenApiSchema;
}

/** What version 2 cannot say at all. Source: ToStructuralOpenAPIV2 in apiextensions-apiserver/pkg/controller/openapi/v2. */
const UNSAID = new Set(['oneOf', 'anyOf', 'allOf', 'not', 'nullable', 'x-kubernetes-validations']);
/** What its clients would hold values against that may well be something else. */
const TOO_STRICT = new Set(['type', 'items', 'properties', 'additionalProperties', 'required']);

function toVersion2(schema: StructuralSchema): OpenApiSchema {
  const isOpen = schema.nullable === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const kept = Object.fromEntries(
    Object.entries(schema).filter(([word]) => !UNSAID.has(word) && !(isOpen && TOO_STRICT.has(word))),
  ) as StructuralSchema;
  const { properties, additionalProperties, items, ...rest } = kept;
  return {
    ...asOpenApi(rest),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, toVersion2(property)]),
      ),
    }),
    ...(additionalProperties && {
      additionalProperties: additionalProperties === true ? {} : toVersion2(additionalProperties),
    }),
    ...(items && { items: toVersion2(items) }),
  };
}

import type { Descriptions, ObjectSchema } from '../../schema/index.js';
import type { OpenApiSchema, OpenApiVersion } from './openapi-schema.js';
import { besideReference } from './definition-facts.js';
import { structuralOpenApi } from './structural-openapi.js';

const PREFIX = { 2: '#/definitions/', 3: '#/components/schemas/' } as const;

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** The words of `kubectl explain` for the fields that every object has. */
const IDENTITY_DESCRIPTIONS: Descriptions = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  metadata: `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
};

/** One of our schemas in the words of OpenAPI. */
export function toOpenApiSchema(
  schema: ObjectSchema,
  version: OpenApiVersion,
  descriptions: Descriptions = {},
): OpenApiSchema {
  return convert(schema, version, descriptions[''], descriptions);
}

function convert(
  schema: ObjectSchema,
  version: OpenApiVersion,
  description?: string,
  descriptions: Descriptions = {},
): OpenApiSchema {
  const described = { ...(description && { description }), ...extensions(schema) };
  switch (schema.type) {
    case 'ref':
      return reference({ ...described, $ref: `${PREFIX[version]}${schema.ref ?? ''}` }, version);
    case 'object':
      if (schema.structural) {
        const identity = properties(schema.properties ?? {}, version, IDENTITY_DESCRIPTIONS);
        return structuralOpenApi(schema.structural, identity, version);
      }
      return {
        ...described,
        type: 'object',
        ...(schema.required && schema.required.length > 0 && { required: schema.required }),
        ...(schema.properties && { properties: properties(schema.properties, version, descriptions) }),
      };
    case 'map':
      return {
        ...described,
        type: 'object',
        additionalProperties: schema.items ? convert(schema.items, version) : {},
      };
    case 'array':
      return {
        ...described,
        type: 'array',
        items: schema.items ? convert(schema.items, version) : {},
      };
    case 'any':
    case 'union':
      return described;
    default:
      return scalar(schema, described, version);
  }
}

function properties(
  from: Readonly<Record<string, ObjectSchema>>,
  version: OpenApiVersion,
  descriptions: Descriptions,
): Record<string, OpenApiSchema> {
  return Object.fromEntries(
    Object.entries(from).map(([name, schema]) => [name, convert(schema, version, descriptions[name])]),
  );
}

function reference(schema: OpenApiSchema, version: OpenApiVersion): OpenApiSchema {
  return version === 2 ? schema : besideReference(schema);
}

function scalar(schema: ObjectSchema, described: OpenApiSchema, version: OpenApiVersion): OpenApiSchema {
  if (schema.format === 'int-or-string' && version === 3) {
    return { ...described, format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
  }
  if (schema.format === 'quantity') {
    return version === 3
      ? { ...described, oneOf: [{ type: 'string' }, { type: 'number' }] }
      : { ...described, type: 'string' };
  }
  return {
    ...described,
    type: schema.type,
    ...(schema.format && { format: schema.format }),
    ...(schema.enum && { enum: schema.enum }),
  };
}

function extensions(schema: ObjectSchema): OpenApiSchema {
  return {
    ...(schema.listType && { 'x-kubernetes-list-type': schema.listType }),
    ...(schema.listMapKeys && { 'x-kubernetes-list-map-keys': schema.listMapKeys }),
    ...(schema.patchStrategy && { 'x-kubernetes-patch-strategy': schema.patchStrategy }),
    ...(schema.patchMergeKey && { 'x-kubernetes-patch-merge-key': schema.patchMergeKey }),
  };
}

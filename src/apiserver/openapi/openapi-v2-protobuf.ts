import protobuf from 'protobufjs/light.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { OPENAPI_V2_HEAD } from './openapi-v2.js';
import type { OpenApiV2Operation } from './openapi-v2.js';
import type { OpenApiV2Form } from './openapi-v2-parts.js';
import type { OpenApiSchema } from './openapi-schema.js';

export const OPENAPI_V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const text = (id: number) => ({ type: 'string', id });
const texts = (id: number) => ({ type: 'string', id, rule: 'repeated' });
const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ type, id, rule: 'repeated' });

/** The part of the `openapi.v2` messages that we fill; numbers are those of the published format. */
const root = protobuf.Root.fromJSON({
  nested: {
    Document: {
      fields: {
        swagger: text(1),
        info: one('Info', 2),
        paths: one('Paths', 8),
        definitions: one('NamedSchemas', 9),
      },
    },
    Info: { fields: { title: text(1), version: text(2) } },
    Paths: { fields: { path: many('NamedPathItem', 2) } },
    NamedPathItem: { fields: { name: text(1), value: one('PathItem', 2) } },
    PathItem: {
      fields: {
        get: one('Operation', 2),
        put: one('Operation', 3),
        post: one('Operation', 4),
        delete: one('Operation', 5),
        patch: one('Operation', 8),
      },
    },
    Operation: {
      fields: {
        description: text(3),
        operationId: text(5),
        produces: texts(6),
        consumes: texts(7),
        parameters: many('ParametersItem', 8),
        responses: one('Responses', 9),
        vendorExtension: many('NamedAny', 13),
      },
    },
    ParametersItem: { fields: { parameter: one('Parameter', 1) } },
    Parameter: { fields: { nonBodyParameter: one('NonBodyParameter', 2) } },
    NonBodyParameter: { fields: { query: one('QueryParameter', 3), path: one('PathParameter', 4) } },
    QueryParameter: { fields: { in: text(2), name: text(4), type: text(6) } },
    PathParameter: { fields: { required: one('bool', 1), in: text(2), name: text(4), type: text(5) } },
    Responses: { fields: { responseCode: many('NamedResponseValue', 1) } },
    NamedResponseValue: { fields: { name: text(1), value: one('ResponseValue', 2) } },
    ResponseValue: { fields: { response: one('Response', 1) } },
    Response: { fields: { description: text(1) } },
    NamedSchemas: { fields: { additionalProperties: many('NamedSchema', 1) } },
    NamedSchema: { fields: { name: text(1), value: one('Schema', 2) } },
    Schema: {
      fields: {
        ref: text(1),
        format: text(2),
        description: text(4),
        required: texts(19),
        additionalProperties: one('AdditionalProperties', 21),
        type: one('TypeItem', 22),
        items: one('ItemsItem', 23),
        properties: one('NamedSchemas', 25),
        vendorExtension: many('NamedAny', 31),
      },
    },
    AdditionalProperties: { fields: { schema: one('Schema', 1) } },
    TypeItem: { fields: { value: texts(1) } },
    ItemsItem: { fields: { schema: many('Schema', 1) } },
    NamedAny: { fields: { name: text(1), value: one('Any', 2) } },
    Any: { fields: { yaml: text(2) } },
  },
});

const DOCUMENT = root.lookupType('Document');
const PATHS = root.lookupType('Paths');
const DEFINITIONS = root.lookupType('NamedSchemas');
/** Fields 8 and 9 of a Document, each with its length before it. */
const PATHS_TAG = (8 << 3) | 2;
const DEFINITIONS_TAG = (9 << 3) | 2;

/** The version 2 document in gnostic's protobuf form, which kubectl before 1.27 asks for. */
export const PROTOBUF_FORM: OpenApiV2Form<Uint8Array> = {
  // The document's own media type is none that Go's MIME parser takes; a genuine server says no more either.
  contentType: 'application/octet-stream',
  encode: ({ definitions, paths }) => ({
    paths: PATHS.encode({ path: Object.entries(paths).map(toNamedPath) }).finish(),
    definitions: DEFINITIONS.encode(toNamedSchemas(definitions)).finish(),
  }),
  // Lists of messages one behind the other are one list.
  join: (parts) =>
    Buffer.from(
      DOCUMENT.encode(OPENAPI_V2_HEAD)
        .uint32(PATHS_TAG)
        .bytes(Buffer.concat(parts.map(({ paths }) => paths)))
        .uint32(DEFINITIONS_TAG)
        .bytes(Buffer.concat(parts.map(({ definitions }) => definitions)))
        .finish(),
    ),
};

function toNamedPath([name, item]: [string, Readonly<Record<string, OpenApiV2Operation>>]): object {
  const operations = Object.entries(item).map(([method, found]) => [method, toOperation(found)]);
  return { name, value: Object.fromEntries(operations) as object };
}

function toOperation(operation: OpenApiV2Operation): object {
  return {
    description: operation.description,
    operationId: operation.operationId,
    produces: operation.produces,
    consumes: operation.consumes,
    parameters: operation.parameters.map((parameter) => ({
      parameter: {
        nonBodyParameter:
          (parameter as { in: string }).in === 'path' ? { path: parameter } : { query: parameter },
      },
    })),
    responses: {
      responseCode: Object.entries(operation.responses).map(([name, response]) => ({
        name,
        value: { response },
      })),
    },
    vendorExtension: toExtensions(operation),
  };
}

function toNamedSchemas(schemas: Readonly<Record<string, OpenApiSchema>>): object {
  return {
    additionalProperties: Object.entries(schemas).map(([name, schema]) => ({
      name,
      value: toSchema(schema),
    })),
  };
}

function toSchema(schema: OpenApiSchema): object {
  return {
    ...(schema.$ref && { ref: schema.$ref }),
    ...(schema.format && { format: schema.format }),
    ...(schema.description && { description: schema.description }),
    ...(schema.required && { required: schema.required }),
    ...(schema.additionalProperties && {
      additionalProperties: { schema: toSchema(schema.additionalProperties) },
    }),
    ...(schema.type && { type: { value: [schema.type] } }),
    ...(schema.items && { items: { schema: [toSchema(schema.items)] } }),
    ...(schema.properties && { properties: toNamedSchemas(schema.properties) }),
    vendorExtension: toExtensions(schema),
  };
}

/** Extensions are encoded as YAML, a superset of JSON. */
function toExtensions(from: object): object[] {
  return Object.entries(from)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => ({ name, value: { yaml: stringifyJson(value) } }));
}

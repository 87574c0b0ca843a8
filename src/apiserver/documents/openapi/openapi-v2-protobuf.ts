import protobuf from 'protobufjs/light.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { openApiV2Head } from './openapi-v2.js';
import type {
  OpenApiV2Head,
  OpenApiV2Operation,
  OpenApiV2PathItem,
  OpenApiV2Response,
} from './openapi-v2.js';
import type { OpenApiV2Form } from './openapi-v2-parts.js';
import type { OpenApiSchema } from './openapi-schema.js';
import type { ParameterV2, shownParameter } from './shared-parameters.js';

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
        parameters: one('NamedParameters', 10),
        security: many('SecurityRequirement', 12),
        securityDefinitions: one('SecurityDefinitions', 13),
      },
    },
    NamedParameters: { fields: { additionalProperties: many('NamedParameter', 1) } },
    NamedParameter: { fields: { name: text(1), value: one('Parameter', 2) } },
    SecurityRequirement: { fields: { additionalProperties: many('NamedTexts', 1) } },
    NamedTexts: { fields: { name: text(1), value: one('Texts', 2) } },
    Texts: { fields: { value: texts(1) } },
    SecurityDefinitions: { fields: { additionalProperties: many('NamedSecurity', 1) } },
    NamedSecurity: { fields: { name: text(1), value: one('Security', 2) } },
    Security: { fields: { apiKey: one('ApiKey', 2) } },
    ApiKey: { fields: { type: text(1), name: text(2), in: text(3), description: text(4) } },
    Info: { fields: { title: text(1), version: text(2) } },
    Paths: { fields: { path: many('NamedPathItem', 2) } },
    NamedPathItem: { fields: { name: text(1), value: one('PathItem', 2) } },
    PathItem: {
      fields: {
        get: one('Operation', 2),
        put: one('Operation', 3),
        post: one('Operation', 4),
        delete: one('Operation', 5),
        options: one('Operation', 6),
        head: one('Operation', 7),
        patch: one('Operation', 8),
        parameters: many('ParametersItem', 9),
      },
    },
    Operation: {
      fields: {
        tags: texts(1),
        description: text(3),
        operationId: text(5),
        produces: texts(6),
        consumes: texts(7),
        parameters: many('ParametersItem', 8),
        responses: one('Responses', 9),
        schemes: texts(10),
        vendorExtension: many('NamedAny', 13),
      },
    },
    ParametersItem: { fields: { parameter: one('Parameter', 1), reference: one('Reference', 2) } },
    Reference: { fields: { ref: text(1) } },
    Parameter: { fields: { body: one('BodyParameter', 1), other: one('OtherParameter', 2) } },
    BodyParameter: {
      fields: { name: text(2), in: text(3), required: one('bool', 4), schema: one('Schema', 5) },
    },
    OtherParameter: { fields: { query: one('QueryParameter', 3), path: one('PathParameter', 4) } },
    QueryParameter: {
      fields: {
        in: text(2),
        description: text(3),
        name: text(4),
        type: text(6),
        uniqueItems: one('bool', 20),
      },
    },
    PathParameter: {
      fields: {
        required: one('bool', 1),
        in: text(2),
        description: text(3),
        name: text(4),
        type: text(5),
        uniqueItems: one('bool', 19),
      },
    },
    Responses: { fields: { responseCode: many('NamedResponseValue', 1) } },
    NamedResponseValue: { fields: { name: text(1), value: one('ResponseValue', 2) } },
    ResponseValue: { fields: { response: one('Response', 1) } },
    Response: { fields: { description: text(1), schema: one('SchemaItem', 2) } },
    SchemaItem: { fields: { schema: one('Schema', 1) } },
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
  read: (bytes) => bytes,
  // Lists of messages one behind the other are one list.
  join: (parts) =>
    Buffer.from(
      DOCUMENT.encode(toHead(openApiV2Head()))
        .uint32(PATHS_TAG)
        .bytes(Buffer.concat(parts.map(({ paths }) => paths)))
        .uint32(DEFINITIONS_TAG)
        .bytes(Buffer.concat(parts.map(({ definitions }) => definitions)))
        .finish(),
    ),
};

function toHead({ info, parameters, security, securityDefinitions, swagger }: OpenApiV2Head): object {
  const named = <T>(from: Readonly<Record<string, T>>, to: (value: T) => object) => ({
    additionalProperties: Object.entries(from).map(([name, value]) => ({ name, value: to(value) })),
  });
  return {
    ...{ info, swagger },
    parameters: named(parameters, toParameter),
    security: security.map((one) => named(one, (value) => ({ value }))),
    securityDefinitions: named(securityDefinitions, (apiKey) => ({ apiKey })),
  };
}

function toNamedPath([name, { parameters, ...methods }]: [string, OpenApiV2PathItem]): object {
  const operations = Object.entries(methods).map(([method, found]): [string, object] => [
    method,
    toOperation(found),
  ]);
  const value = {
    ...Object.fromEntries(operations),
    ...(parameters && { parameters: parameters.map(toParametersItem) }),
  };
  return { name, value };
}

function toOperation(operation: OpenApiV2Operation): object {
  const {
    consumes,
    description,
    operationId,
    parameters = [],
    produces,
    responses,
    schemes,
    tags,
  } = operation;
  return {
    ...{ description, operationId, produces, schemes, tags },
    ...(consumes && { consumes }),
    parameters: parameters.map(toParametersItem),
    responses: {
      responseCode: Object.entries(responses).map(([name, response]) => ({
        name,
        value: { response: toResponse(response) },
      })),
    },
    vendorExtension: toExtensions(operation),
  };
}

function toResponse({ description, schema }: OpenApiV2Response): object {
  return { description, ...(schema && { schema: { schema: toSchema(schema) } }) };
}

function toParametersItem(parameter: ReturnType<typeof shownParameter>): object {
  return '$ref' in parameter ? { reference: { ref: parameter.$ref } } : { parameter: toParameter(parameter) };
}

function toParameter(parameter: ParameterV2): object {
  if (parameter.in === 'body') return { body: { ...parameter, schema: toSchema(parameter.schema) } };
  return { other: { [parameter.in]: parameter } };
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

import { KUBERNETES_VERSION } from '../kubernetes-version.js';
import type { Answer, Operation, PathOperations } from './operations.js';
import type { OpenApiSchemas } from './schemas.js';
import type { OpenApiSchema } from './openapi-schema.js';
import { bodyParameter, parameterV2, sharedParameters, shownParameter } from './shared-parameters.js';

type ShownParameter = ReturnType<typeof shownParameter>;

export interface OpenApiV2Operation {
  readonly description: string;
  readonly consumes?: readonly string[];
  readonly produces: readonly string[];
  readonly schemes: readonly string[];
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly parameters?: readonly ShownParameter[];
  readonly responses: Readonly<Record<string, OpenApiV2Response>>;
  readonly 'x-kubernetes-action'?: string;
  readonly 'x-kubernetes-group-version-kind'?: Operation['gvk'];
}

export interface OpenApiV2Response {
  readonly description: string;
  readonly schema?: OpenApiSchema;
}

export type OpenApiV2PathItem = Readonly<Partial<Record<Operation['method'], OpenApiV2Operation>>> & {
  readonly parameters?: readonly ShownParameter[];
};

const BEARER = 'BearerToken';

/** The fields of the document of `GET /openapi/v2` beside paths and definitions. */
export interface OpenApiV2Head {
  readonly swagger: '2.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly parameters: ReturnType<typeof sharedParameters>;
  readonly securityDefinitions: Readonly<
    Record<string, Readonly<Record<'description' | 'type' | 'name' | 'in', string>>>
  >;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

export function openApiV2Head(): OpenApiV2Head {
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: KUBERNETES_VERSION.gitVersion },
    parameters: sharedParameters(),
    securityDefinitions: {
      [BEARER]: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ [BEARER]: [] }],
  };
}

/** The part of the document for some kinds. */
export interface OpenApiV2Part {
  readonly paths: Readonly<Record<string, OpenApiV2PathItem>>;
  readonly definitions: Readonly<Record<string, OpenApiSchema>>;
}

/** @param names of the schemas that are defined */
export function openApiV2Part(
  paths: readonly PathOperations[],
  names: Iterable<string>,
  schemas: OpenApiSchemas,
): OpenApiV2Part {
  const definitions: Record<string, OpenApiSchema> = {};
  for (const name of names) {
    const schema = schemas.get(name);
    if (schema) definitions[name] = schema;
  }
  return { paths: Object.fromEntries(paths.map((path) => [path.path, toPathItem(path)])), definitions };
}

function toPathItem({ operations, parameters }: PathOperations): OpenApiV2PathItem {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, toOperation(operation)])),
    ...(parameters.length > 0 && { parameters: parameters.map(parameterV2).map(shownParameter) }),
  };
}

function toOperation(operation: Operation): OpenApiV2Operation {
  const { action, answers, body, consumes, gvk } = operation;
  const parameters = [...(body ? [bodyParameter(body)] : []), ...operation.parameters.map(parameterV2)];
  return {
    description: operation.description,
    ...(consumes && { consumes }),
    produces: operation.produces,
    schemes: ['https'],
    tags: operation.tags,
    operationId: operation.operationId,
    ...(parameters.length > 0 && { parameters: parameters.map(shownParameter) }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([code, answer]) => [code, toResponse(answer)]),
    ),
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(gvk && { 'x-kubernetes-group-version-kind': gvk }),
  };
}

function toResponse({ description, schema }: Answer): OpenApiV2Response {
  if (schema === undefined) return { description };
  return { description, schema: schema === null ? { type: 'string' } : { $ref: `#/definitions/${schema}` } };
}

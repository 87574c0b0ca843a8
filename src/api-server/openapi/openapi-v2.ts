import type { KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { pathsOf } from './operations.js';
import type { Operation, PathOperations } from './operations.js';
import { everyOpenApiSchema } from './schemas.js';
import type { OpenApiSchema } from './openapi-schema.js';

export interface OpenApiV2Operation {
  readonly operationId: string;
  readonly description: string;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly parameters: readonly object[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly 'x-kubernetes-action': string;
  readonly 'x-kubernetes-group-version-kind': Operation['gvk'];
}

export interface OpenApiV2Document {
  readonly swagger: '2.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiV2Operation>>>>;
  readonly definitions: Readonly<Record<string, OpenApiSchema>>;
}

/** The document of `GET /openapi/v2`. */
export function openApiV2(kinds: KindRegistry, schemas: SchemaRegistry): OpenApiV2Document {
  const paths = kinds.kinds.flatMap(pathsOf).map((path) => [path.path, toPathItem(path)] as const);
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1.32.0' },
    paths: Object.fromEntries(paths),
    definitions: everyOpenApiSchema(kinds, schemas, 2),
  };
}

function toPathItem({ operations, parameters }: PathOperations): Record<string, OpenApiV2Operation> {
  return Object.fromEntries(
    operations.map((operation) => [operation.method, toOperation(operation, parameters)]),
  );
}

function toOperation(operation: Operation, pathParameters: readonly string[]): OpenApiV2Operation {
  return {
    operationId: operation.id,
    description: `${operation.action} ${operation.gvk.kind}`,
    consumes: operation.consumes.length > 0 ? operation.consumes : ['*/*'],
    produces: ['application/json', 'application/yaml'],
    parameters: [
      ...pathParameters.map((name) => ({ name, in: 'path', required: true, type: 'string' })),
      ...operation.query.map((name) => ({ name, in: 'query', type: 'string' })),
    ],
    responses: { '200': { description: 'OK' }, '401': { description: 'Unauthorized' } },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  };
}

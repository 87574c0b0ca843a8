import { KUBERNETES_VERSION } from '../kubernetes-version.js';
import type { KindDefinition } from '../kinds/index.js';
import { pathsOf } from './operations.js';
import type { Operation, PathOperations } from './operations.js';
import type { OpenApiSchemas } from './schemas.js';
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

/** What the document of `GET /openapi/v2` begins with. */
export const OPENAPI_V2_HEAD = {
  swagger: '2.0',
  info: { title: 'Kubernetes', version: KUBERNETES_VERSION.gitVersion },
} as const;

/** What some kinds add to the document. */
export interface OpenApiV2Part {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiV2Operation>>>>;
  readonly definitions: Readonly<Record<string, OpenApiSchema>>;
}

/** @param names of the schemas that are defined */
export function openApiV2Part(
  kinds: readonly KindDefinition[],
  names: Iterable<string>,
  schemaOf: OpenApiSchemas,
): OpenApiV2Part {
  const paths = kinds.flatMap(pathsOf).map((path) => [path.path, toPathItem(path)] as const);
  const definitions: Record<string, OpenApiSchema> = {};
  for (const name of names) {
    const schema = schemaOf(name);
    if (schema) definitions[name] = schema;
  }
  return { paths: Object.fromEntries(paths), definitions };
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

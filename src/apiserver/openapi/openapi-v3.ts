import { KUBERNETES_VERSION } from '../kubernetes-version.js';
import { apiVersionOf, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { GroupVersion } from '../discovery/index.js';
import { pathsOf } from './operations.js';
import type { Operation, PathOperations } from './operations.js';
import type { OpenApiSchemas } from './schemas.js';
import type { OpenApiSchema } from './openapi-schema.js';

/** Where a group version's document is found below `/openapi/v3`. */
export function documentPath({ group, version }: Pick<GroupVersion, 'group' | 'version'>): string {
  return group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;
}

/**
 * The document of `GET /openapi/v3/api/v1` or `/openapi/v3/apis/GROUP/VERSION`.
 * @param schemaOf the schemas of all groups, in the form of version 3
 */
export function openApiV3(found: GroupVersion, schemaOf: OpenApiSchemas): object {
  const paths = found.kinds.flatMap(pathsOf).map((path) => [path.path, toPathItem(path)] as const);
  const roots = found.kinds.flatMap((kind) => [
    kind.schema,
    `${kind.schema}List`,
    ...(kind.scale ? ['io.k8s.api.autoscaling.v1.Scale'] : []),
  ]);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: KUBERNETES_VERSION.gitVersion },
    paths: Object.fromEntries(paths),
    components: { schemas: reachable(schemaOf, roots) },
  };
}

/** The schemas that the roots need, and no others: a client reads one document for one group. */
function reachable(schemaOf: OpenApiSchemas, roots: readonly string[]): Record<string, OpenApiSchema> {
  const result: Record<string, OpenApiSchema> = {};
  const waiting = [...roots];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (Object.hasOwn(result, name)) continue;
    const schema = schemaOf(name);
    if (!schema) continue;
    result[name] = schema;
    for (const match of stringifyJson(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      waiting.push(match[1]!);
  }
  return result;
}

function toPathItem({ operations, parameters }: PathOperations): object {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, toOperation(operation)])),
    parameters: parameters.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', uniqueItems: true },
    })),
  };
}

function toOperation(operation: Operation): object {
  const schema = { $ref: `#/components/schemas/${operation.schema}` };
  const body = operation.method === 'patch' ? { type: 'object' } : schema;
  return {
    operationId: operation.id,
    description: `${operation.action} ${operation.gvk.kind}`,
    parameters: operation.query.map((name) => ({
      name,
      in: 'query',
      schema: { type: 'string', uniqueItems: true },
    })),
    ...(operation.consumes.length > 0 && {
      requestBody: {
        content: Object.fromEntries(operation.consumes.map((type) => [type, { schema: body }])),
      },
    }),
    responses: {
      '200': { description: 'OK', content: { 'application/json': { schema } } },
      '401': { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  };
}

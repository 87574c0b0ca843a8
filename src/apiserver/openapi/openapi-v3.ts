import { KUBERNETES_VERSION } from '../kubernetes-version.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Answer, Operation, PathOperations } from './operations.js';
import type { Parameter } from './parameters.js';
import type { OpenApiSchemas } from './schemas.js';
import type { OpenApiSchema } from './openapi-schema.js';

const PREFIX = '#/components/schemas/';

/**
 * A document below `/openapi/v3`: some paths and the schemas that they need, and no others, for a client reads one document for
 * one group.
 * @param all the schemas of all groups, in the form of version 3
 */
export function openApiV3(paths: readonly PathOperations[], all: OpenApiSchemas): object {
  const items = Object.fromEntries(paths.map((path) => [path.path, toPathItem(path)]));
  const schemas = reachable(all, referencesIn(items));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: KUBERNETES_VERSION.gitVersion },
    paths: items,
    components: {
      ...(Object.keys(schemas).length > 0 && { schemas }),
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
    },
  };
}

function reachable(all: OpenApiSchemas, roots: readonly string[]): Record<string, OpenApiSchema> {
  const result: Record<string, OpenApiSchema> = {};
  const waiting = [...roots];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (Object.hasOwn(result, name)) continue;
    const schema = all.get(name);
    if (!schema) continue;
    result[name] = schema;
    waiting.push(...referencesIn(schema));
  }
  return result;
}

function referencesIn(part: object): string[] {
  const found = stringifyJson(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return [...new Set(Array.from(found, ([, name = '']) => name))];
}

function toPathItem({ operations, parameters }: PathOperations): object {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, toOperation(operation)])),
    ...(parameters.length > 0 && { parameters: parameters.map(toParameter) }),
  };
}

function toParameter({ description, in: place, name, type }: Parameter): object {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' && { required: true }),
    schema: { type, uniqueItems: true },
  };
}

function toOperation(operation: Operation): object {
  const { action, answers, body, consumes = [], gvk, parameters, produces } = operation;
  return {
    tags: operation.tags,
    description: operation.description,
    operationId: operation.operationId,
    ...(parameters.length > 0 && { parameters: parameters.map(toParameter) }),
    ...(body && {
      requestBody: {
        content: contentOf(consumes, { $ref: `${PREFIX}${body.schema}` }),
        ...(body.isRequired && { required: true }),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([code, answer]) => [code, toResponse(answer, produces)]),
    ),
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(gvk && { 'x-kubernetes-group-version-kind': gvk }),
  };
}

function toResponse({ description, schema }: Answer, produces: readonly string[]): object {
  if (schema === undefined) return { description };
  const content = schema === null ? { type: 'string' } : { $ref: `${PREFIX}${schema}` };
  return { description, content: contentOf(produces, content) };
}

function contentOf(types: readonly string[], schema: object): object {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

import { KUBERNETES_VERSION } from '../kubernetes-version.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Answer, Operation, PathOperations } from './operations.js';
import type { Parameter } from './parameters.js';
import type { OpenApiSchemas } from './schemas.js';

const PREFIX = '#/components/schemas/';

const INFO = {
  openapi: '3.0.0',
  info: { title: 'Kubernetes', version: KUBERNETES_VERSION.gitVersion },
};
const SECURITY = {
  BearerToken: {
    type: 'apiKey',
    description: 'Bearer Token authentication',
    name: 'authorization',
    in: 'header',
  },
};

/**
 * A document below `/openapi/v3`, as JSON: some paths and the schemas that they need, and no others, for a client reads one
 * document for one group. It is written part by part, so that the whole is in memory only once.
 * @param all the schemas of all groups, in the form of version 3
 */
export function openApiV3(paths: readonly PathOperations[], all: OpenApiSchemas): string {
  const items = paths.map((path) => fieldText(path.path, toPathItem(path)));
  const schemas = reachable(all, namedIn(paths));
  return [
    `${stringifyJson(INFO).slice(0, -1)},"paths":{${items.join(',')}},"components":{`,
    schemas.length > 0 ? `"schemas":{${schemas.join(',')}},` : '',
    `${fieldText('securitySchemes', SECURITY)}}}`,
  ].join('');
}

function fieldText(name: string, value: object): string {
  return `${JSON.stringify(name)}:${stringifyJson(value)}`;
}

/** The schemas that bodies and answers have. */
function namedIn(paths: readonly PathOperations[]): string[] {
  return paths.flatMap(({ operations }) =>
    operations.flatMap(({ answers, body }) => [
      ...(body ? [body.schema] : []),
      ...Object.values(answers).flatMap(({ schema }) => schema ?? []),
    ]),
  );
}

/** The schemas that are named, and all that they refer to. */
function reachable(all: OpenApiSchemas, roots: readonly string[]): string[] {
  const known = new Set<string>();
  const result: string[] = [];
  const waiting = [...roots];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (known.has(name)) continue;
    known.add(name);
    const schema = all.get(name);
    if (!schema) continue;
    const text = fieldText(name, schema);
    result.push(text);
    for (const [, found = ''] of text.matchAll(REFERENCE)) waiting.push(found);
  }
  return result;
}

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

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

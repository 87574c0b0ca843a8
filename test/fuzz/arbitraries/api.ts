import { NAMESPACE } from '../seeds/index.js';
import type { FuzzedServer } from '../fuzzed-server.js';
import { SAMPLE_NAME, sampleOf } from './samples.js';

/** The resources that the server reports to serve: kinds that come later are attacked without a line here. */
export interface FuzzedApi {
  readonly resources: readonly FuzzedResource[];
  /** Paths of the collections in which generated requests leave objects behind. */
  readonly collections: readonly string[];
  /** Schemas of OpenAPI version 3, by name. */
  readonly schemas: ReadonlyMap<string, OpenApiNode>;
}

export interface FuzzedResource {
  readonly apiVersion: string;
  readonly kind: string;
  /** The path of the collection, with the namespace if the resource has one. */
  readonly path: string;
  readonly verbs: readonly string[];
  /** `status`, `scale` and their like. */
  readonly subresources: readonly string[];
  /** Name of its schema; absent where OpenAPI does not tell. */
  readonly schema?: string;
  /** An object of the kind, of which one is there if the server took it. */
  readonly sample: object;
}

/** A schema in an OpenAPI document, as far as it is read here. */
export interface OpenApiNode {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiNode[];
  readonly oneOf?: readonly OpenApiNode[];
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, OpenApiNode>>;
  readonly items?: OpenApiNode;
  readonly additionalProperties?: OpenApiNode | boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** Events are more than anybody would want to look through, and Namespaces take everything else with them. */
const KEPT_COLLECTIONS = new Set(['namespaces']);

export async function readApi(server: FuzzedServer): Promise<FuzzedApi> {
  const schemas = await readSchemas(server);
  const resources: FuzzedResource[] = [];
  for (const groupVersion of await groupVersionsOf(server)) {
    resources.push(...(await resourcesOf(server, groupVersion, schemas)));
  }
  const collections = resources
    .filter(({ path, verbs }) => verbs.includes('deletecollection') && !KEPT_COLLECTIONS.has(lastOf(path)))
    .map(({ path }) => path);
  return { resources, collections, schemas };
}

/** Puts the samples there; answers those that the server does not take. */
export async function putSamples(server: FuzzedServer, { resources }: FuzzedApi): Promise<string[]> {
  const refused: string[] = [];
  for (const { apiVersion, kind, path, sample, verbs } of resources) {
    if (!verbs.includes('create') || !verbs.includes('get')) continue;
    const there = await server.send({ method: 'GET', path: `${path}/${SAMPLE_NAME}` });
    if (there.status === 200) continue;
    const headers = { 'content-type': 'application/json' };
    const answer = await server.send({ method: 'POST', path, headers, body: JSON.stringify(sample) });
    if (answer.status >= 300) refused.push(`${apiVersion} ${kind} (${answer.text.slice(0, 200)})`);
  }
  return refused;
}

async function groupVersionsOf(server: FuzzedServer): Promise<string[]> {
  const { groups } = (await server.call('GET', '/apis')) as {
    groups: { versions: { groupVersion: string }[] }[];
  };
  return ['v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))];
}

async function resourcesOf(
  server: FuzzedServer,
  apiVersion: string,
  schemas: ReadonlyMap<string, OpenApiNode>,
): Promise<FuzzedResource[]> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources } = (await server.call('GET', root)) as { resources: ApiResource[] };
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ kind, name, namespaced, verbs }) => {
      const subresources = resources
        .filter((other) => other.name.startsWith(`${name}/`))
        .map((other) => other.name.slice(name.length + 1));
      const schema = schemaOf(schemas, apiVersion, kind);
      return {
        apiVersion,
        kind,
        path: `${root}/${namespaced ? `namespaces/${NAMESPACE}/` : ''}${name}`,
        verbs,
        subresources,
        sample: sampleOf(apiVersion, kind),
        ...(schema !== undefined && { schema }),
      };
    });
}

async function readSchemas(server: FuzzedServer): Promise<ReadonlyMap<string, OpenApiNode>> {
  const index = (await server.call('GET', '/openapi/v3')) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const schemas = new Map<string, OpenApiNode>();
  for (const { serverRelativeURL } of Object.values(index.paths)) {
    const document = (await server.call('GET', serverRelativeURL)) as {
      components?: { schemas?: Record<string, OpenApiNode> };
    };
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
      schemas.set(name, schema);
  }
  return schemas;
}

function schemaOf(
  schemas: ReadonlyMap<string, OpenApiNode>,
  apiVersion: string,
  kind: string,
): string | undefined {
  for (const [name, schema] of schemas) {
    const isIt = schema['x-kubernetes-group-version-kind']?.some(
      (own) =>
        own.kind === kind && (own.group === '' ? own.version : `${own.group}/${own.version}`) === apiVersion,
    );
    if (isIt) return name;
  }
  return undefined;
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  apiVersionOf,
} from '../../src/machinery/kubernetes/index.js';

export interface ManyKindsOptions {
  /** Beside pods, ReplicaSets, Deployments and namespaces, of which there are none. */
  readonly kinds: number;
  /** The number of objects of each kind. */
  readonly objects: number;
  readonly tls: { readonly cert: string; readonly key: string };
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const BOOKMARK_MS = 60_000;

/**
 * The reading side of a Kubernetes API with very many kinds, over TLS: discovery, lists in pages and watches on which
 * nothing happens. Objects have as much metadata as those of clusters do. To measure what following them costs.
 */
export class ManyKindsApi {
  /** Lists and watches that were begun, and questions to discovery. */
  readonly counts = { list: 0, watch: 0, discovery: 0, notModified: 0, other: 0 };
  private readonly types = new Map<string, ResourceType>();
  private readonly watches = new Set<ServerResponse>();
  private readonly bookmarks: NodeJS.Timeout;
  /** The most connections that were open at once. */
  mostConnections = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: ManyKindsOptions,
  ) {
    for (const type of [Deployment, Namespace, Pod, ReplicaSet]) this.types.set(pathOf(type), type);
    for (let index = 0; index < options.kinds; index++) {
      const type = customType(index);
      this.types.set(pathOf(type), type);
    }
    this.bookmarks = setInterval(() => this.bookmark(), BOOKMARK_MS);
  }

  static async start(options: ManyKindsOptions): Promise<ManyKindsApi> {
    const server = createServer({ cert: options.tls.cert, key: options.tls.key });
    const api = new ManyKindsApi(server, options);
    let connections = 0;
    server.on('secureConnection', (socket) => {
      api.mostConnections = Math.max(api.mostConnections, ++connections);
      socket.on('close', () => void connections--);
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      api.serve(request, response),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return api;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get openWatches(): number {
    return this.watches.size;
  }

  async stop(): Promise<void> {
    clearInterval(this.bookmarks);
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (pathname === '/api' || pathname === '/apis') return this.discover(pathname, request, response);
    const type = request.method === 'GET' ? this.types.get(pathname) : undefined;
    if (type && searchParams.has('watch')) return this.watch(response);
    if (type) return this.list(type, searchParams, response);
    this.counts.other++;
    request.resume();
    request.on('end', () =>
      answer(response, pathname === '/readyz' ? 200 : 404, { kind: 'Status', code: 404 }),
    );
  }

  private discover(path: string, request: IncomingMessage, response: ServerResponse): void {
    this.counts.discovery++;
    if (request.headers['if-none-match'] === '"1"') {
      this.counts.notModified++;
      response.writeHead(304).end();
      return;
    }
    const groups = new Map<string, ResourceType[]>();
    for (const type of this.types.values())
      if ((type.group === '') === (path === '/api'))
        groups.set(type.group, [...(groups.get(type.group) ?? []), type]);
    const items = [...groups].map(([name, types]) => ({
      metadata: { name },
      versions: [{ version: 'v1', freshness: 'Current', resources: types.map(discovered) }],
    }));
    answer(response, 200, { kind: 'APIGroupDiscoveryList', items }, { etag: '"1"' });
  }

  private list(type: ResourceType, query: URLSearchParams, response: ServerResponse): void {
    this.counts.list++;
    const total = type.group === 'example.com' ? this.options.objects : 0;
    const start = Number(query.get('continue') ?? 0);
    const end = Math.min(start + Number(query.get('limit') ?? total), total);
    const items = Array.from({ length: end - start }, (_, index) => anObject(type, start + index));
    const metadata = { resourceVersion: '1000', ...(end < total && { continue: String(end) }) };
    answer(response, 200, { kind: 'PartialObjectMetadataList', metadata, items });
  }

  private watch(response: ServerResponse): void {
    this.counts.watch++;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    this.watches.add(response);
    response.on('close', () => this.watches.delete(response));
  }

  private bookmark(): void {
    const line = JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '1000' } } });
    for (const watch of this.watches) watch.write(`${line}\n`);
  }
}

function customType(index: number): ResourceType {
  return {
    group: 'example.com',
    version: 'v1',
    resource: `widgets${index}`,
    kind: `Widget${index}`,
    namespaced: true,
  };
}

function pathOf(type: ResourceType): string {
  return type.group === '' ? `/api/v1/${type.resource}` : `/apis/${apiVersionOf(type)}/${type.resource}`;
}

function discovered({ kind, namespaced, resource }: ResourceType): object {
  return { resource, responseKind: { kind }, scope: namespaced ? 'Namespaced' : 'Cluster', verbs: VERBS };
}

/** Half of them have an owner that is one of the others. */
function anObject(type: ResourceType, index: number): KubernetesObject {
  const owner = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    controller: true,
    blockOwnerDeletion: true,
  };
  const labels = Object.fromEntries(
    ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'].map((name) => [
      `app.kubernetes.io/${name}`,
      `some-value-${index}`,
    ]),
  );
  const managedFields = [
    { manager: 'helm', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': labels } } },
    { manager: 'controller', operation: 'Update', fieldsV1: { 'f:status': { 'f:conditions': labels } } },
  ];
  const metadata = {
    name: `${type.resource}-object-${index}`,
    namespace: `team-${index % 50}`,
    uid: index % 2 === 0 ? uidOf(type, index) : randomUUID(),
    resourceVersion: String(index),
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels,
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(labels) },
    managedFields,
    ...(index % 2 === 1 && {
      ownerReferences: [
        { ...owner, name: `${type.resource}-object-${index - 1}`, uid: uidOf(type, index - 1) },
      ],
    }),
  };
  // Owner and owned in one namespace.
  metadata.namespace = `team-${Math.floor(index / 2) % 50}`;
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
}

/** The same in every list. */
function uidOf({ resource }: ResourceType, index: number): string {
  return `00000000-${resource.padStart(12, '0')}-${String(index).padStart(12, '0')}`;
}

function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubernetesObject, ObjectRef, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { apiVersionOf, keyOf } from '../../src/machinery/kubernetes/index.js';
import type { Stored } from './light-collection.js';
import { LightCollection } from './light-collection.js';
import { selection, shardOf } from './light-selection.js';

export interface LightApiOptions {
  /** The kinds that it serves; any other one is not found. */
  readonly kinds: readonly ResourceType[];
  /** Serves HTTPS with this certificate. @default plain HTTP */
  readonly tls?: { readonly cert: string; readonly key: string };
}

interface Target {
  readonly collection: LightCollection;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const PATH =
  /^(\/apis?\/(?:[^/]+\/)?v\d+)(?:\/namespaces\/([^/]+))?\/([a-z0-9]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const BOOKMARK_MS = 60_000;
const LONGEST_WATCH_SECONDS = 1800;
/** Its documents of discovery never change. */
const ETAG = '"1"';

/**
 * Just enough of a Kubernetes API to measure what talks to it, with hardly any processor time of its own: discovery,
 * lists in pages, watches, shards by namespaces, optimistic concurrency, generations, the status subresource, and pods that are ready at
 * once. Nothing is validated or defaulted. Lists are of one namespace or of all, by labels, and by shards; watches by shards
 * alone. Events are accepted and forgotten.
 */
export class LightApi {
  /** Lists and watches that were begun, and questions to discovery. */
  readonly counts = { list: 0, watch: 0, discovery: 0, notModified: 0 };
  /** The most connections that were open at once. */
  mostConnections = 0;
  private connections = 0;
  private revision = 1;
  private readonly collections = new Map<string, LightCollection>();
  private readonly bookmarks: NodeJS.Timeout;

  private constructor(
    private readonly server: Server,
    private readonly options: LightApiOptions,
  ) {
    const nextRevision = (): number => ++this.revision;
    for (const type of options.kinds)
      this.collections.set(pathOf(type), new LightCollection(type, nextRevision, () => this.revision));
    this.bookmarks = setInterval(() => {
      for (const collection of this.collections.values()) collection.bookmark();
    }, BOOKMARK_MS);
  }

  static async start(options: LightApiOptions): Promise<LightApi> {
    const server = options.tls ? createTlsServer(options.tls) : createServer();
    const api = new LightApi(server, options);
    server.on(options.tls ? 'secureConnection' : 'connection', (socket: NodeJS.EventEmitter) => {
      api.mostConnections = Math.max(api.mostConnections, ++api.connections);
      socket.on('close', () => void api.connections--);
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void api.serve(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return api;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.options.tls ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** Changes of Deployments and ReplicaSets. */
  get writes(): number {
    const workloads = [...this.collections.values()].filter(({ type }) => type.group === 'apps');
    return workloads.reduce((sum, { writes }) => sum + writes, 0);
  }

  get openWatches(): number {
    return [...this.collections.values()].reduce((sum, { watchers }) => sum + watchers.size, 0);
  }

  /** Bytes that were sent to watches. */
  get watchBytes(): number {
    return [...this.collections.values()].reduce((sum, { watchers }) => sum + watchers.bytes, 0);
  }

  all<T extends KubernetesObject>(type: ResourceType): readonly T[] {
    return [...this.collectionOf(type).objects.values()] as unknown as T[];
  }

  /** Puts an object there as it is, as if it had been there before the first client came. */
  seed(type: ResourceType, object: KubernetesObject): void {
    this.collectionOf(type).seed(object as Stored);
  }

  create(type: ResourceType, object: KubernetesObject): void {
    this.collectionOf(type).create(object as Stored);
  }

  /** Makes a change as another client would, for example of an image; `change` gets a copy. */
  change<T extends KubernetesObject>(type: ResourceType, ref: ObjectRef, change: (object: T) => void): void {
    const collection = this.collectionOf(type);
    const current = collection.objects.get(keyOf(ref));
    if (!current) throw new Error(`there is no ${type.resource}/${keyOf(ref)}`);
    const copy = structuredClone(current);
    change(copy as unknown as T);
    collection.replace(current, copy);
  }

  /** Makes all watchers of a kind list again: what was seeded meanwhile is there. */
  expire(type: ResourceType): void {
    this.collectionOf(type).expire();
  }

  async stop(): Promise<void> {
    clearInterval(this.bookmarks);
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  collectionOf(type: ResourceType): LightCollection {
    const collection = this.collections.get(pathOf(type));
    if (!collection) throw new Error(`${type.resource} are not served`);
    return collection;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://light');
    if (pathname === '/readyz') return answer(response, 200, 'ok');
    if (pathname === '/api' || pathname === '/apis') return this.discover(pathname, request, response);
    const target = this.targetOf(pathname);
    const body = await bodyOf(request);
    if (/\/events(\/[^/]+)?$/.test(pathname) && request.method !== 'GET') return answer(response, 201, body);
    if (!target) return refuse(response, 404, 'NotFound');
    if (request.method === 'GET') return this.read(target, searchParams, response);
    this.write(request.method ?? '', target, JSON.parse(body) as Stored, response);
  }

  private targetOf(path: string): Target | undefined {
    const [, prefix = '', namespace, resource = '', name, subresource] = PATH.exec(path) ?? [];
    const collection = this.collections.get(`${prefix}/${resource}`);
    return collection && { collection, namespace, name, subresource };
  }

  private discover(path: string, request: IncomingMessage, response: ServerResponse): void {
    this.counts.discovery++;
    if (request.headers['if-none-match'] === ETAG) {
      this.counts.notModified++;
      response.writeHead(304).end();
      return;
    }
    const types = this.options.kinds.filter(({ group }) => (group === '') === (path === '/api'));
    const groups = Map.groupBy(types, ({ group }) => group);
    const items = [...groups].map(([name, ofGroup]) => ({
      metadata: { name },
      versions: [{ version: 'v1', freshness: 'Current', resources: ofGroup.map(discovered) }],
    }));
    answer(response, 200, JSON.stringify({ kind: 'APIGroupDiscoveryList', items }), { etag: ETAG });
  }

  private read(target: Target, query: URLSearchParams, response: ServerResponse): void {
    const { collection, name, namespace } = target;
    if (name !== undefined) {
      const object = collection.objects.get(keyOf({ namespace, name }));
      return object ? answer(response, 200, JSON.stringify(object)) : refuse(response, 404, 'NotFound');
    }
    // As servers answer that stream no lists: clients then ask for pages.
    if (query.has('sendInitialEvents')) return refuse(response, 422, 'Invalid');
    const shard = shardOf(query.get('shardSelector'));
    if (query.has('watch')) {
      this.counts.watch++;
      collection.watch(Number(query.get('resourceVersion')), shard, response);
      const timeout = setTimeout(
        () => collection.endWatch(response),
        Number(query.get('timeoutSeconds') ?? LONGEST_WATCH_SECONDS) * 1000,
      );
      response.on('close', () => clearTimeout(timeout));
      return;
    }
    this.counts.list++;
    const isSelected = selection(namespace, query);
    if (!isSelected) return refuse(response, 400, 'BadRequest');
    const page = collection.page(query.get('continue'), Number(query.get('limit') ?? Infinity), isSelected);
    if (!page) return refuse(response, 410, 'Expired');
    const metadata = {
      resourceVersion: String(page.revision),
      continue: page.next,
      ...(shard && { shardInfo: { selector: shard.selector } }),
    };
    answer(response, 200, JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata, items: page.items }));
  }

  private write(method: string, target: Target, sent: Stored, response: ServerResponse): void {
    const { collection, name = sent.metadata?.name ?? '', namespace, subresource } = target;
    const current = collection.objects.get(keyOf({ namespace, name }));
    if (method === 'POST' && target.name === undefined) {
      if (current) return refuse(response, 409, 'AlreadyExists');
      if (namespace !== undefined) sent.metadata.namespace ??= namespace;
      return answer(response, 201, JSON.stringify(collection.create(sent)));
    }
    if (!current) return refuse(response, 404, 'NotFound');
    if (method === 'DELETE') return answer(response, 200, JSON.stringify(collection.remove(current)));
    if (method !== 'PUT') return refuse(response, 405, 'MethodNotAllowed');
    const { resourceVersion = current.metadata.resourceVersion } = sent.metadata;
    if (resourceVersion !== current.metadata.resourceVersion) return refuse(response, 409, 'Conflict');
    const next =
      subresource === 'status' ? collection.replaceStatus(current, sent) : collection.replace(current, sent);
    answer(response, 200, JSON.stringify(next));
  }
}

/** The path of all objects of a kind. */
function pathOf(type: ResourceType): string {
  return type.group === '' ? `/api/v1/${type.resource}` : `/apis/${apiVersionOf(type)}/${type.resource}`;
}

function discovered({ kind, namespaced, resource }: ResourceType): object {
  return { resource, responseKind: { kind }, scope: namespaced ? 'Namespaced' : 'Cluster', verbs: VERBS };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const length = Buffer.byteLength(text);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers })
    .end(text);
}

function refuse(response: ServerResponse, code: number, reason: string): void {
  answer(response, code, JSON.stringify({ kind: 'Status', apiVersion: 'v1', code, reason, message: reason }));
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { toRfc3339 } from '../../src/machinery/clock/index.js';
import type { Pod, UnstructuredObject } from '../../src/machinery/kubernetes/index.js';
import { LIGHT_DISCOVERY } from './light-discovery.js';

type Stored = UnstructuredObject & { status?: unknown };

interface Change {
  readonly revision: number;
  readonly line: string;
}

interface Collection {
  readonly apiVersion: string;
  readonly objects: Map<string, Stored>;
  readonly log: Change[];
  readonly watchers: Set<ServerResponse>;
  waiting: string[];
  /** When watchers were told last. */
  toldAtMs: number;
}

interface Target {
  readonly collection: Collection;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const PATH = /^\/apis?\/((?:[^/]+\/)?v\d+)(?:\/namespaces\/[^/]+)?\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;
/** Watchers are notified no more often than this, milliseconds, as by the embedded server. */
const WATCH_BATCH_MS = 10;

/**
 * Just enough of a Kubernetes API for rollouts of Deployments in one namespace, with hardly any processor time of its own:
 * lists, watches, optimistic concurrency, generations, the status subresource, and pods that are ready at once. Nothing
 * is validated, defaulted or kept; events are accepted and forgotten. To measure controllers, not API servers.
 */
export class LightApi {
  private readonly collections = new Map<string, Collection>();
  private revision = 1;
  private workloadWrites = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<LightApi> {
    const server = createServer();
    const api = new LightApi(server);
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

  /** Changes of Deployments and ReplicaSets. */
  get writes(): number {
    return this.workloadWrites;
  }

  /** Everything of a resource, for example `deployments`. */
  all<T>(resource: string): readonly T[] {
    return [...(this.collections.get(resource)?.objects.values() ?? [])] as T[];
  }

  create(resource: string, apiVersion: string, object: UnstructuredObject): Stored {
    const collection = this.collectionOf(resource, apiVersion);
    const { metadata } = object;
    const created: Stored = {
      status: {},
      ...object,
      metadata: { ...metadata, uid: randomUUID(), creationTimestamp: toRfc3339(Date.now()), generation: 1 },
    };
    const stored = this.store(collection, created, 'ADDED');
    if (resource === 'pods') setImmediate(() => this.makeReady(collection, metadata.name));
    return stored;
  }

  /** Makes a change as another client would, for example of an image; `change` gets a copy. */
  change<T extends UnstructuredObject>(resource: string, name: string, change: (object: T) => void): void {
    const collection = this.collections.get(resource);
    const current = collection?.objects.get(name);
    if (!collection || !current) throw new Error(`no ${resource} ${name}`);
    const copy = structuredClone(current) as unknown as T;
    change(copy);
    this.store(collection, succeeding(current, copy), 'MODIFIED');
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://light');
    if (pathname === '/readyz') return answer(response, 200, 'ok');
    const document = LIGHT_DISCOVERY[pathname];
    if (document) return answer(response, 200, JSON.stringify(document));
    const target = this.targetOf(pathname);
    if (!target) return refuse(response, 404, 'NotFound');
    const body = await bodyOf(request);
    if (request.method === 'GET') return this.read(target, searchParams, response);
    if (target.resource === 'events') return answer(response, 201, body);
    return this.write(request.method ?? '', target, JSON.parse(body) as Stored, response);
  }

  private targetOf(path: string): Target | undefined {
    const [, apiVersion, resource, name, subresource] = PATH.exec(path) ?? [];
    if (apiVersion === undefined || resource === undefined) return undefined;
    return { collection: this.collectionOf(resource, apiVersion), resource, name, subresource };
  }

  private collectionOf(resource: string, apiVersion: string): Collection {
    const known = this.collections.get(resource);
    if (known) return known;
    const made: Collection = {
      apiVersion,
      objects: new Map(),
      log: [],
      watchers: new Set(),
      waiting: [],
      toldAtMs: 0,
    };
    this.collections.set(resource, made);
    return made;
  }

  private read({ collection, name }: Target, query: URLSearchParams, response: ServerResponse): void {
    if (name !== undefined) {
      const object = collection.objects.get(name);
      return object ? answer(response, 200, JSON.stringify(object)) : refuse(response, 404, 'NotFound');
    }
    if (query.has('watch')) return watch(collection, Number(query.get('resourceVersion')), response);
    const items = [...collection.objects.values()];
    answer(response, 200, JSON.stringify({ metadata: { resourceVersion: String(this.revision) }, items }));
  }

  private write(method: string, target: Target, sent: Stored, response: ServerResponse): void {
    const { collection, name = sent.metadata?.name ?? '', resource, subresource } = target;
    const current = collection.objects.get(name);
    if (method === 'POST' && target.name === undefined) {
      if (current) return refuse(response, 409, 'AlreadyExists');
      return answer(response, 201, JSON.stringify(this.create(resource, collection.apiVersion, sent)));
    }
    if (!current) return refuse(response, 404, 'NotFound');
    if (method === 'DELETE') return answer(response, 200, JSON.stringify(this.remove(collection, current)));
    if (method !== 'PUT') return refuse(response, 405, 'MethodNotAllowed');
    const { resourceVersion = current.metadata.resourceVersion } = sent.metadata;
    if (resourceVersion !== current.metadata.resourceVersion) return refuse(response, 409, 'Conflict');
    const next = subresource === 'status' ? withStatus(current, sent) : succeeding(current, sent);
    answer(response, 200, JSON.stringify(this.store(collection, next, 'MODIFIED')));
  }

  private remove(collection: Collection, object: Stored): Stored {
    collection.objects.delete(object.metadata.name);
    return this.tell(collection, object, 'DELETED');
  }

  private store(collection: Collection, object: Stored, type: 'ADDED' | 'MODIFIED'): Stored {
    const stored = this.tell(collection, object, type);
    collection.objects.set(object.metadata.name, stored);
    return stored;
  }

  private tell(collection: Collection, object: Stored, type: string): Stored {
    const revision = ++this.revision;
    if (collection.apiVersion === 'apps/v1') this.workloadWrites++;
    const told = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const line = `${JSON.stringify({ type, object: told })}\n`;
    collection.log.push({ revision, line });
    collection.waiting.push(line);
    if (collection.waiting.length === 1) void flushSoon(collection);
    return told;
  }

  private makeReady(collection: Collection, name: string): void {
    const pod = collection.objects.get(name) as unknown as Pod | undefined;
    if (!pod) return;
    const now = toRfc3339(Date.now());
    const conditions = ['PodScheduled', 'Ready'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    }));
    const ready = {
      ...pod,
      spec: { ...pod.spec, nodeName: 'node-0' },
      status: { phase: 'Running', startTime: now, conditions },
    };
    this.store(collection, ready, 'MODIFIED');
  }
}

/** A new version of an object; the status is not for it to change, and a new spec is a new generation. */
function succeeding(current: Stored, sent: UnstructuredObject): Stored {
  const { creationTimestamp, generation = 1, uid } = current.metadata;
  const sameSpec = JSON.stringify(sent['spec']) === JSON.stringify(current['spec']);
  const metadata = {
    ...sent.metadata,
    creationTimestamp,
    uid,
    generation: sameSpec ? generation : generation + 1,
  };
  return { ...sent, metadata, status: current.status };
}

/** As Kubernetes does for Deployments and ReplicaSets: the status, and of the rest only the annotations. */
function withStatus(current: Stored, sent: Stored): Stored {
  const metadata = { ...current.metadata, annotations: sent.metadata.annotations };
  return { ...current, metadata, status: sent.status };
}

function watch(collection: Collection, after: number, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  // The log holds already what is still to be sent: a watcher that comes in between must not get it twice.
  flush(collection);
  for (const { line, revision } of collection.log) if (revision > after) response.write(line);
  collection.watchers.add(response);
  response.on('close', () => collection.watchers.delete(response));
}

async function flushSoon(collection: Collection): Promise<void> {
  await delay(Math.max(collection.toldAtMs + WATCH_BATCH_MS - performance.now(), 0));
  flush(collection);
}

function flush(collection: Collection): void {
  if (collection.waiting.length === 0) return;
  const text = Buffer.from(collection.waiting.join(''));
  collection.waiting = [];
  collection.toldAtMs = performance.now();
  for (const watcher of collection.watchers) watcher.write(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function answer(response: ServerResponse, status: number, text: string): void {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

function refuse(response: ServerResponse, code: number, reason: string): void {
  answer(response, code, JSON.stringify({ kind: 'Status', apiVersion: 'v1', code, reason, message: reason }));
}

import type { KubernetesObject, ObjectRef, ResourceType } from '../kubernetes/index.js';
import { apiVersionOf, stringifyJson } from '../kubernetes/index.js';
import type {
  ApiClient,
  DeleteOptions,
  DeleteResult,
  DiscoveredResources,
  ListOptions,
  ListPage,
  PatchType,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './api-client.js';
import { discoverResources } from './discover.js';
import type { HttpApiClientOptions } from './http-api-client.options.js';
import { compileHttpApiClientOptions } from './http-api-client.options.js';
import type { StreamingAnswer } from './http-transport.js';
import { HttpTransport } from './http-transport.js';
import { parseAnswer, statusErrorOf } from './parse-response.js';
import { collectionPath, objectPath, queryString, requireNamespace } from './resource-path.js';
import type { SendRequest } from './retrying-sender.js';
import { RetryingSender } from './retrying-sender.js';
import { WatchStream } from './watch-stream.js';

const CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const JSON_TYPE = 'application/json';

/** An {@link ApiClient} that holds connections. */
export interface HttpApiClient extends ApiClient {
  /** Closes every connection at once; what still runs is rejected. */
  close(): Promise<void>;
}

/**
 * The Kubernetes API over HTTP. Opens no connection before the first request.
 * @throws InvalidOptionError naming the option
 */
export function createHttpApiClient(options: HttpApiClientOptions): HttpApiClient {
  const compiled = compileHttpApiClientOptions(options);
  const transport = new HttpTransport(compiled);
  return new UndiciApiClient(transport, new RetryingSender(transport, compiled));
}

type Reading = Pick<SendRequest, 'signal'>;

interface WireList<T> {
  readonly items?: T[] | null;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

class UndiciApiClient implements HttpApiClient {
  constructor(
    private readonly transport: HttpTransport,
    private readonly sender: RetryingSender,
  ) {}

  async get<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: Reading = {},
  ): Promise<T> {
    return (await this.read(objectPath(type, ref), options)) as T;
  }

  async list<T extends KubernetesObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const query = queryString({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      continue: options.continueToken,
      resourceVersion: options.resourceVersion,
    });
    const path = collectionPath(type, options.namespace) + query;
    const list = (await this.read(path, options)) as WireList<T>;
    // The items of a typed list come without the fields that the list's own kind implies.
    const items = list.items ?? [];
    const apiVersion = apiVersionOf(type);
    for (const item of items) {
      item.apiVersion ??= apiVersion;
      item.kind ??= type.kind;
    }
    return {
      items,
      resourceVersion: list.metadata?.resourceVersion ?? '',
      continueToken: list.metadata?.continue || undefined,
    };
  }

  watch<T extends KubernetesObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return new WatchStream<T>(async () => this.openWatch(type, options));
  }

  private openWatch(type: ResourceType, options: WatchOptions): Promise<StreamingAnswer> {
    const query = queryString({
      watch: 1,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    });
    return this.transport.stream({
      method: 'GET',
      path: collectionPath(type, options.namespace) + query,
      timeoutMs: options.idleTimeoutMs,
      signal: options.signal,
    });
  }

  async create<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const { metadata } = object;
    requireNamespace(type, metadata.namespace);
    const path = options.subresource
      ? objectPath(type, metadata, options.subresource)
      : collectionPath(type, metadata.namespace);
    return this.write<T>('POST', path, object, options);
  }

  async update<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.write<T>('PUT', objectPath(type, object.metadata, options.subresource), object, options);
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions = {},
  ): Promise<T> {
    const path = objectPath(type, ref, options.subresource);
    return this.write<T>('PATCH', path, patch.body, options, CONTENT_TYPES[patch.type]);
  }

  async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<T>> {
    const { preconditions, propagationPolicy, gracePeriodSeconds } = options;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      propagationPolicy,
      gracePeriodSeconds,
    };
    const answer = await this.write<KubernetesObject>('DELETE', objectPath(type, ref), body, options);
    return isStillThere(answer) ? { object: answer as T } : {};
  }

  discover(options: Reading = {}): Promise<DiscoveredResources> {
    return discoverResources((path) => this.read(path, options));
  }

  async ping(options: Reading = {}): Promise<void> {
    const ready = await this.sender.send({ method: 'GET', path: '/readyz', signal: options.signal });
    if (ready.status === 200) return;
    // Not ready, no such path, or not for us to see: is it a Kubernetes API that talks to us at all?
    const version = await this.sender.send({ method: 'GET', path: '/version', signal: options.signal });
    if (version.status !== 200) throw statusErrorOf(version);
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  private async read(path: string, { signal }: Reading): Promise<unknown> {
    return parseAnswer(await this.sender.send({ method: 'GET', path, signal }));
  }

  private async write<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: unknown,
    { signal, guard, assertMayWrite }: Pick<WriteOptions, 'signal' | 'guard' | 'assertMayWrite'>,
    contentType = JSON_TYPE,
  ): Promise<T> {
    const request = { method, path, body: stringifyJson(body), contentType, signal, guard, assertMayWrite };
    return parseAnswer(await this.sender.send(request)) as T;
  }
}

/**
 * Whether the answer to a deletion shows an object that lives on. Some types are answered with their last state
 * although they are gone (a pod without a grace period): that one has neither finalizers nor time left.
 */
function isStillThere(answer: KubernetesObject): boolean {
  if (answer.kind === 'Status') return false;
  const { finalizers = [], deletionTimestamp, deletionGracePeriodSeconds = 0 } = answer.metadata;
  return deletionTimestamp !== undefined && (finalizers.length > 0 || deletionGracePeriodSeconds > 0);
}

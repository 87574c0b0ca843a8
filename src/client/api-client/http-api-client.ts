import type { Duplex } from 'node:stream';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { NAMES_VERIFIED, Pod, apiVersionOf, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type {
  ApiClient,
  DeleteCollectionOptions,
  DeleteOptions,
  DeleteResult,
  DiscoverOptions,
  DiscoveredResources,
  ExecOptions,
  ExecResult,
  GetOptions,
  ListOptions,
  ListPage,
  LogOptions,
  PatchType,
  PortForwardOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './api-client.js';
import type { DiscoveryDocument } from './discover.js';
import { Discovery } from './discover.js';
import type { HttpApiClientOptions } from './http-api-client.options.js';
import { compileHttpApiClientOptions } from './http-api-client.options.js';
import type { StreamingAnswer } from './http-transport.js';
import { HttpTransport } from './http-transport.js';
import { logLines } from './log-lines.js';
import type { PodChannels } from './pod-channels.js';
import { execProtocols, followExec } from './pod-exec.js';
import { PORT_PROTOCOLS, PodPortStream } from './pod-port-stream.js';
import { listIn, parseAnswer, statusErrorOf } from './parse-response.js';
import { collectionPath, objectPath, queryString, requireNamespace } from './resource-path.js';
import type { SendRequest } from './retrying-sender.js';
import { RetryingSender } from './retrying-sender.js';
import { ApiConnectionError } from './transport-errors.js';
import { WatchStream } from './watch-stream.js';

const CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is valid YAML.
  apply: 'application/apply-patch+yaml',
};

const JSON_TYPE = 'application/json';

/** A kubelet closes a connection that is silent for longer. */
const LONGEST_SILENCE_OF_LOGS_MS = 4 * 3_600_000;
const LONGEST_PAUSE_IN_LOGS_MS = 30_000;

/**
 * The Accept header of client-go's metadata client; a server without that representation (an aggregated one, say)
 * returns whole objects.
 */
const METADATA_OF_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const METADATA_OF_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** The version and the identity that a server reports. */
export interface ServerInfo {
  /** `v1.36.0` */
  readonly version: string;
  /** The `Date` of its answer, epoch milliseconds, in whole seconds; absent where a proxy takes it away. */
  readonly dateMs?: number;
}

/** The readiness that a server reports. */
export interface Readiness {
  /** HTTP status of `/readyz`: 200, 500 if a check fails; 401, 403 or 404 where it is not shown. */
  readonly status: number;
  /** Names of the checks that fail, as far as the server gives them. */
  readonly failing: readonly string[];
}

/** An {@link ApiClient} with its own connections. */
export interface HttpApiClient extends ApiClient {
  /** The same client, on the same connections, with another user agent in the server's logs and metrics. */
  as(userAgent: string): ApiClient;
  /** Its version, and the time that it has. @throws ApiStatusError where `/version` is refused */
  serverInfo(options?: { signal?: AbortSignal }): Promise<ServerInfo>;
  /** The answer of `/readyz`, of any status. @throws ApiConnectionError or TimeoutError if there is none */
  readiness(options?: { signal?: AbortSignal }): Promise<Readiness>;
  /** Closes every connection immediately; running requests are rejected. */
  close(): Promise<void>;
}

/**
 * The Kubernetes API over HTTP. Opens no connection before the first request.
 * @throws InvalidOptionError naming the option;
 */
export function createHttpApiClient(options: HttpApiClientOptions): HttpApiClient {
  const compiled = compileHttpApiClientOptions(options);
  const transport = new HttpTransport(compiled);
  return new UndiciApiClient(transport, new RetryingSender(transport, compiled), compiled.clock);
}

type Reading = Pick<SendRequest, 'signal' | 'accept'>;

class UndiciApiClient implements HttpApiClient {
  private readonly discovery = new Discovery();
  private isVerifyingNames: boolean | undefined;

  constructor(
    private readonly transport: HttpTransport,
    private readonly sender: RetryingSender,
    private readonly clock: Clock,
    private readonly userAgent?: string,
  ) {}

  as(userAgent: string): ApiClient {
    return new UndiciApiClient(this.transport, this.sender, this.clock, userAgent);
  }

  async get<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    { metadataOnly, query = {}, signal, subresource }: GetOptions = {},
  ): Promise<T> {
    const accept = metadataOnly ? METADATA_OF_OBJECT : undefined;
    const path = objectPath(type, ref, subresource) + queryString(query);
    const object = await this.read<T>(path, { accept, signal });
    return metadataOnly ? named(object, typeMeta(type)) : object;
  }

  async list<T extends KubernetesObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const query = queryString({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      shardSelector: options.shard?.selector,
      limit: options.limit,
      continue: options.continueToken,
      resourceVersion: options.resourceVersion,
    });
    const path = collectionPath(type, options.namespace) + query;
    const accept = options.metadataOnly ? METADATA_OF_LIST : undefined;
    const list = listIn<T>(await this.read(path, { accept, signal: options.signal }), path);
    // Items of a typed list lack apiVersion and kind, which the list's own kind implies.
    const { shard } = options;
    const isSelected = list.metadata?.shardInfo?.selector === shard?.selector;
    const sent = list.items ?? [];
    const items = !shard || isSelected ? sent : sent.filter((item) => shard.includes(item));
    const implied = typeMeta(type);
    for (const item of items) {
      const bare: Partial<KubernetesObject> = item;
      bare.apiVersion ??= implied.apiVersion;
      bare.kind ??= implied.kind;
      if (options.metadataOnly) named(item, implied);
    }
    return {
      items,
      resourceVersion: list.metadata?.resourceVersion ?? '',
      continueToken: list.metadata?.continue || undefined,
      ...(shard && (isSelected || !options.metadataOnly) && { isShardSelected: isSelected }),
    };
  }

  watch<T extends KubernetesObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    const isOf = options.metadataOnly ? typeMeta(type) : undefined;
    return new WatchStream<T>(async () => this.openWatch(type, options), isOf, options.shard);
  }

  logs(pod: ObjectRef, { signal, ...options }: LogOptions = {}): AsyncIterable<string> {
    const path = objectPath(Pod, pod, 'log') + queryString(options);
    const timeoutMs = options.follow ? LONGEST_SILENCE_OF_LOGS_MS : LONGEST_PAUSE_IN_LOGS_MS;
    const { userAgent } = this;
    return logLines(() => this.sender.stream({ method: 'GET', path, userAgent, timeoutMs, signal }));
  }

  async exec(pod: ObjectRef, command: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    if (command.length === 0) throw new InvalidOptionError('command', 'is empty');
    const { container, stdin, tty = false } = options;
    const streams = { stdout: true, stderr: !tty, stdin: stdin !== undefined, tty };
    const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]));
    for (const [name, isOn] of Object.entries(streams)) if (isOn) query.set(name, 'true');
    if (container) query.set('container', container);
    const path = `${objectPath(Pod, pod, 'exec')}?${query.toString()}`;
    const channels = await this.openChannels(path, execProtocols(options), options);
    return followExec(channels, `exec in pods/${pod.name}`, options);
  }

  async portForward(pod: ObjectRef, port: number, options: PortForwardOptions = {}): Promise<Duplex> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new InvalidOptionError('port', 'must be from 1 to 65535');
    const path = objectPath(Pod, pod, 'portforward') + queryString({ ports: port });
    const channels = await this.openChannels(path, PORT_PROTOCOLS, options);
    return new PodPortStream(channels, `port ${port} of pods/${pod.name}`, this.clock, options.signal);
  }

  private async openChannels(
    path: string,
    protocols: readonly string[],
    { assertMayWrite, guard, signal }: PortForwardOptions,
  ): Promise<PodChannels> {
    guard?.throwIfAborted();
    assertMayWrite?.();
    const { userAgent } = this;
    const channels = await this.transport.channels({ path, protocols, userAgent, signal });
    if (channels) return channels;
    // A handshake that fails says nothing: the same request without it is refused for the same reason.
    const answer = await this.sender.send({ method: 'GET', path, userAgent, signal });
    if (answer.status >= 400 && answer.status !== 400) throw statusErrorOf(answer);
    const reason = answer.status === 400 ? `: ${statusErrorOf(answer).message}` : '';
    throw new ApiConnectionError(
      `${answer.request}: the server did not take up a WebSocket (${protocols.join(', ')})${reason}`,
    );
  }

  private openWatch(type: ResourceType, options: WatchOptions): Promise<StreamingAnswer> {
    const query = queryString({
      watch: 1,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      ...(options.sendInitialEvents && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
      timeoutSeconds: options.timeoutSeconds,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      shardSelector: options.shard?.selector,
    });
    return this.sender.stream({
      method: 'GET',
      userAgent: this.userAgent,
      path: collectionPath(type, options.namespace) + query,
      accept: options.metadataOnly ? METADATA_OF_OBJECT : undefined,
      timeoutMs: options.idleTimeoutMs,
      silentUntilMs: options.silentUntilMs,
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
    return this.write<T>('POST', path + writeQuery(options), object, options);
  }

  async update<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = objectPath(type, object.metadata, options.subresource) + writeQuery(options);
    return this.write<T>('PUT', path, object, options);
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions = {},
  ): Promise<T> {
    const path = objectPath(type, ref, options.subresource) + writeQuery(options);
    const accept = options.metadataOnly ? METADATA_OF_OBJECT : undefined;
    const contentType = CONTENT_TYPES[patch.type];
    const answer = await this.write<T>('PATCH', path, patch.body, { ...options, accept }, contentType);
    return options.metadataOnly ? named(answer, typeMeta(type)) : answer;
  }

  async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<T>> {
    const answer = await this.write<T>('DELETE', objectPath(type, ref), wireDeleteOptions(options), options);
    return isStillThere(answer) ? { object: answer } : {};
  }

  async deleteCollection(type: ResourceType, options: DeleteCollectionOptions = {}): Promise<void> {
    const { fieldSelector, labelSelector, namespace } = options;
    const path = collectionPath(type, namespace) + queryString({ labelSelector, fieldSelector });
    // The answer lists the deleted objects, which are not used.
    await this.write('DELETE', path, wireDeleteOptions(options), { ...options, accept: METADATA_OF_LIST });
  }

  discover({ everyVersion, signal }: DiscoverOptions = {}): Promise<DiscoveredResources> {
    return this.discovery.discover(
      (path, { accept, etag }) => this.readDiscovery(path, { accept, ifNoneMatch: etag, signal }),
      { everyVersion },
    );
  }

  async ping(options: Reading = {}): Promise<void> {
    const { signal } = options;
    const { userAgent } = this;
    const ready = await this.sender.send({ method: 'GET', path: '/readyz', userAgent, signal });
    if (ready.status === 200) return;
    // The server may be starting, lack the page, or forbid it. Its version shows whether it is a Kubernetes API at all.
    const version = await this.sender.send({ method: 'GET', path: '/version', userAgent, signal });
    if (version.status !== 200) throw statusErrorOf(version);
  }

  async verifiesNames({ signal }: Reading = {}): Promise<boolean> {
    if (this.isVerifyingNames !== undefined) return this.isVerifyingNames;
    const { userAgent } = this;
    const answer = await this.sender.send({ method: 'GET', path: '/version', userAgent, signal });
    // This answer is not kept: a server that starts or is overloaded may give another one later.
    if (answer.status !== 200) return false;
    this.isVerifyingNames = parseAnswer<{ compiler?: unknown }>(answer).compiler === NAMES_VERIFIED;
    return this.isVerifyingNames;
  }

  async serverInfo({ signal }: Reading = {}): Promise<ServerInfo> {
    const { userAgent } = this;
    const answer = await this.sender.send({ method: 'GET', path: '/version', userAgent, signal });
    const { gitVersion = 'unknown' } = parseAnswer<{ gitVersion?: string }>(answer);
    return { version: gitVersion, ...(answer.dateMs !== undefined && { dateMs: answer.dateMs }) };
  }

  async readiness({ signal }: Reading = {}): Promise<Readiness> {
    const { userAgent } = this;
    const path = '/readyz?verbose';
    const { status, text } = await this.sender.send({ method: 'GET', path, userAgent, signal });
    const failing = [...text.matchAll(/^\[-\](\S+)/gm)].map(([, name = '']) => name);
    return { status, failing: status < 500 ? [] : failing };
  }

  close(): Promise<void> {
    this.sender.close();
    return this.transport.close();
  }

  private async read<T>(path: string, reading: Reading): Promise<T> {
    return parseAnswer(
      await this.sender.send({ method: 'GET', path, userAgent: this.userAgent, ...reading }),
    );
  }

  private async readDiscovery(
    path: string,
    reading: Pick<SendRequest, 'accept' | 'ifNoneMatch' | 'signal'>,
  ): Promise<DiscoveryDocument> {
    const answer = await this.sender.send({ method: 'GET', path, userAgent: this.userAgent, ...reading });
    if (answer.status === 304) return { body: undefined };
    return { body: parseAnswer(answer), etag: answer.etag };
  }

  private async write<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: unknown,
    options: Pick<SendRequest, 'signal' | 'guard' | 'assertMayWrite' | 'accept'>,
    contentType = JSON_TYPE,
  ): Promise<T> {
    const { accept, assertMayWrite, guard, signal } = options;
    const { userAgent } = this;
    const content = { body: stringifyJson(body), contentType };
    const request = { method, path, ...content, accept, userAgent, signal, guard, assertMayWrite };
    return parseAnswer(await this.sender.send(request));
  }
}

function writeQuery({ dryRun, fieldManager, fieldValidation, force }: WriteOptions): string {
  return queryString({ fieldManager, fieldValidation, force, ...(dryRun && { dryRun: 'All' }) });
}

/**
 * Whether the response to a deletion shows an object that still exists. For some types the server returns the last
 * state of an object that no longer exists (a pod without a grace period). That state has neither finalizers nor a
 * remaining grace period.
 */
function isStillThere(answer: KubernetesObject): boolean {
  if (answer.kind === 'Status') return false;
  const { finalizers = [], deletionTimestamp, deletionGracePeriodSeconds = 0 } = answer.metadata;
  return deletionTimestamp !== undefined && (finalizers.length > 0 || deletionGracePeriodSeconds > 0);
}

function wireDeleteOptions({
  gracePeriodSeconds,
  preconditions,
  propagationPolicy,
}: Pick<DeleteOptions, 'preconditions' | 'propagationPolicy' | 'gracePeriodSeconds'>): object {
  const kind = { apiVersion: 'v1', kind: 'DeleteOptions' };
  return { ...kind, preconditions, propagationPolicy, gracePeriodSeconds };
}

type TypeMeta = Pick<KubernetesObject, 'apiVersion' | 'kind'>;

function typeMeta(type: ResourceType): TypeMeta {
  return { apiVersion: apiVersionOf(type), kind: type.kind };
}

/** A metadata response calls itself `PartialObjectMetadata`; readers need the object's own type. */
function named<T extends KubernetesObject>(object: T, { apiVersion, kind }: TypeMeta): T {
  object.apiVersion = apiVersion;
  object.kind = kind;
  return object;
}

import type {
  ListOptions,
  ListPage,
  ObjectShard,
  WatchEvent,
  WatchOptions,
} from '@rollkeeper/client/api-client';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ListWatcher } from '@rollkeeper/client/informer';
import { FakeCluster } from './fake-cluster.js';

type ObjectEvent<T> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

type Signal<T> = { readonly event: WatchEvent<T> } | { readonly end: true } | { readonly error: Error };

/**
 * `page` is every page of a list but the first; `check` reads one object to learn the version; `stream` is a streamed
 * list.
 */
type RequestVerb = 'list' | 'page' | 'check' | 'watch' | 'stream';

interface Watcher<T> {
  readonly signals: Signal<T>[];
  wake: () => void;
  /** Half open: nothing arrives any more, without an error. */
  silent: boolean;
  readonly scope: Scope;
}

/** The part of the objects that is asked for. */
interface Scope {
  readonly namespace?: string | undefined;
  readonly shard?: ObjectShard | undefined;
}

interface Snapshot<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly offset: number;
  readonly limit: number;
  readonly isSharded: boolean;
}

/**
 * A server of one resource type in memory, with faults injected by a test: errors to answer with, watches to cut, end
 * or silence, history to forget. Returns copies, as a network would.
 */
export class FakeListWatch<T extends KubernetesObject> implements ListWatcher {
  /**
   * Every list (`list`, `page`, `list whole` without paging, `check` of one object, `stream`) and watch (with its
   * resourceVersion) so far; `in NAMESPACE` if it was for one namespace.
   */
  readonly requests: string[] = [];
  private readonly objects = new Map<string, T>();
  private readonly history: { readonly revision: number; readonly event: ObjectEvent<T> }[] = [];
  private readonly snapshots = new Map<string, Snapshot<T>>();
  private readonly watchers = new Set<Watcher<T>>();
  private readonly failures: Record<RequestVerb, Error[]> = {
    list: [],
    page: [],
    check: [],
    watch: [],
    stream: [],
  };
  /** Whether streamed lists are supported, refused, or ignored. */
  streaming: 'yes' | 'refused' | 'ignored' = 'refused';
  /** Whether the server knows shards; if not, the client leaves out the objects of others. */
  selectsShards = true;
  /** How versions look to clients. @default decimal */
  versionOf: (revision: number) => string = String;
  private revision = 100;
  private forgottenUpTo = 0;
  private nextUid = 1;
  private nextToken = 1;

  constructor(
    readonly type: ResourceType,
    private readonly clock: Clock,
  ) {}

  get resourceVersion(): string {
    return this.versionOf(this.revision);
  }

  get openWatches(): number {
    return this.watchers.size;
  }

  /** The revision of this version; 410 for one that has no order and was never issued. */
  revisionOf(resourceVersion: string): number {
    if (this.versionOf === String) return Number(resourceVersion);
    for (let revision = this.revision; revision > 0; revision--)
      if (this.versionOf(revision) === resourceVersion) return revision;
    throw new ApiStatusError({ code: 410, reason: 'Expired', message: 'unknown resource version' });
  }

  /** Whether the object, or one that had its name, was deleted after this version. */
  wasDeletedAfter(resourceVersion: string, key: string): boolean {
    const after = this.revisionOf(resourceVersion);
    return this.history.some(
      ({ event, revision }) =>
        revision > after && event.type === 'DELETED' && keyOf(event.object.metadata) === key,
    );
  }

  /** The server's objects, by key. */
  state(): Map<string, T> {
    return new Map([...this.objects].map(([key, object]) => [key, structuredClone(object)]));
  }

  /** Creates or modifies an object and notifies the watches. Returns it as stored. */
  put(namespace: string, name: string, change: (object: T) => void = () => undefined): T {
    const old = this.objects.get(keyOf({ namespace, name }));
    const object = old ? structuredClone(old) : this.newObject(namespace, name);
    change(object);
    object.metadata.resourceVersion = this.versionOf(++this.revision);
    this.objects.set(keyOf(object.metadata), object);
    this.publish({ type: old ? 'MODIFIED' : 'ADDED', object });
    return structuredClone(object);
  }

  /** Deletes an object; no-op if there is none. */
  delete(namespace: string, name: string): void {
    const key = keyOf({ namespace, name });
    const old = this.objects.get(key);
    if (!old) return;
    this.objects.delete(key);
    const object = structuredClone(old);
    object.metadata.resourceVersion = this.versionOf(++this.revision);
    this.publish({ type: 'DELETED', object });
  }

  /** Something of another type was written; watches get a bookmark. */
  bookmark(): void {
    this.revision++;
    this.send({ event: { type: 'BOOKMARK', resourceVersion: this.resourceVersion } });
  }

  /** The next `times` requests of this verb are answered with `error`. */
  failNext(verb: RequestVerb, error: Error, times = 1): void {
    for (let i = 0; i < times; i++) this.failures[verb].push(error);
  }

  /** Breaks every open watch with an error. */
  breakWatches(error: Error = new Error('connection reset')): void {
    this.send({ error });
  }

  /** Ends every open watch as the server does at its timeout. */
  endWatches(): void {
    this.send({ end: true });
  }

  /** Every open watch stays open but receives nothing more. */
  silenceWatches(): void {
    for (const watcher of this.watchers) watcher.silent = true;
  }

  /** Sends an event unchanged, however old. */
  sendRaw(event: WatchEvent<T>): void {
    this.send({ event: structuredClone(event) });
  }

  /** Forgets history and continue tokens: watches from before now are answered with 410. */
  compact(): void {
    this.forgottenUpTo = this.revision;
    this.snapshots.clear();
  }

  /** Goes back to an earlier state, like a server restored from a backup; watches end. */
  restore(backup: Map<string, T>, revision: number): void {
    this.objects.clear();
    for (const [key, object] of backup) this.objects.set(key, structuredClone(object));
    this.history.length = 0;
    this.revision = revision;
    this.snapshots.clear();
    this.endWatches();
  }

  async list<U extends KubernetesObject>(
    _type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<U>> {
    const verb = options.continueToken ? 'page' : options.limit === 1 ? 'check' : 'list';
    this.note(options.limit === undefined ? `${verb} whole` : verb, options);
    await Promise.resolve();
    options.signal?.throwIfAborted();
    this.failIfTold(verb);
    return this.page(this.snapshotFor(options)) as unknown as ListPage<U>;
  }

  async *watch<U extends KubernetesObject>(
    _type: ResourceType,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<U>, void, undefined> {
    const { resourceVersion, sendInitialEvents } = options;
    this.note(sendInitialEvents ? 'stream' : `watch ${resourceVersion}`, options);
    this.failIfTold(sendInitialEvents ? 'stream' : 'watch');
    if (sendInitialEvents && this.streaming === 'refused')
      throw new ApiStatusError({ code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden' });
    const from = sendInitialEvents ? this.revision : this.revisionOf(resourceVersion);
    if (from < this.forgottenUpTo) throw expired('too old resource version');
    const watcher = this.openWatch(from, options);
    if (sendInitialEvents) watcher.signals.unshift(...this.initialSignals(options));
    try {
      for (const beganMs = this.clock.monotonicNow(); ;) {
        const signal = await this.nextSignal(watcher, options, beganMs);
        if ('end' in signal) return;
        if ('error' in signal) throw signal.error;
        yield structuredClone(signal.event) as unknown as WatchEvent<U>;
      }
    } finally {
      this.watchers.delete(watcher);
    }
  }

  private note(request: string, { namespace, shard }: Scope): void {
    const place = namespace ?? shard?.selector;
    this.requests.push(place === undefined ? request : `${request} in ${place}`);
  }

  private initialSignals({ namespace, shard }: Scope): Signal<T>[] {
    const items = this.snapshotFor({ namespace, shard }).items;
    const added = items.map((object): Signal<T> => ({ event: { type: 'ADDED', object } }));
    const end = { type: 'BOOKMARK', resourceVersion: this.resourceVersion, endsInitialEvents: true } as const;
    return this.streaming === 'yes' ? [...added, { event: end }] : added;
  }

  private newObject(namespace: string, name: string): T {
    const uid = `uid-${this.nextUid++}`;
    const { kind } = this.type;
    return { apiVersion: apiVersionOf(this.type), kind, metadata: { namespace, name, uid } } as T;
  }

  private publish(event: ObjectEvent<T>): void {
    this.history.push({ revision: this.revision, event });
    this.send({ event }, event.object);
  }

  private send(signal: Signal<T>, about?: T): void {
    for (const watcher of this.watchers) {
      if (watcher.silent || (about && !isWithin(about, watcher.scope))) continue;
      watcher.signals.push(signal);
      watcher.wake();
    }
  }

  private failIfTold(verb: RequestVerb): void {
    const error = this.failures[verb].shift();
    if (error) throw error;
  }

  private snapshotFor(options: Scope & Pick<ListOptions, 'continueToken' | 'limit'>): Snapshot<T> {
    if (options.continueToken) {
      const snapshot = this.snapshots.get(options.continueToken);
      if (!snapshot) throw expired('the provided continue parameter is too old');
      return snapshot;
    }
    const items = [...this.state().values()].filter((object) => isWithin(object, options));
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    const isSharded = options.shard !== undefined;
    return { items, resourceVersion: this.resourceVersion, offset: 0, limit, isSharded };
  }

  private page(snapshot: Snapshot<T>): ListPage<T> {
    const { isSharded, items, limit, offset, resourceVersion } = snapshot;
    const end = offset + limit;
    const page = { resourceVersion, ...(isSharded && { isShardSelected: this.selectsShards }) };
    if (end >= items.length) return { ...page, items: items.slice(offset) };
    const continueToken = `token-${this.nextToken++}`;
    this.snapshots.set(continueToken, { ...snapshot, offset: end });
    return { ...page, items: items.slice(offset, end), continueToken };
  }

  private openWatch(from: number, scope: Scope): Watcher<T> {
    const missed = this.history.filter(
      ({ event, revision }) => revision > from && isWithin(event.object, scope),
    );
    const signals: Signal<T>[] = missed.map(({ event }) => ({ event }));
    const watcher: Watcher<T> = { signals, wake: () => undefined, silent: false, scope };
    this.watchers.add(watcher);
    return watcher;
  }

  /** The next thing to arrive; an error after the idle timeout, or on abort. */
  private async nextSignal(watcher: Watcher<T>, options: WatchOptions, beganMs: number): Promise<Signal<T>> {
    if (watcher.signals.length === 0) await this.arrival(watcher, options, beganMs);
    options.signal.throwIfAborted();
    return watcher.signals.shift() ?? { error: new TimeoutError('the watch fell silent') };
  }

  private arrival(watcher: Watcher<T>, options: WatchOptions, beganMs: number): Promise<void> {
    const { idleTimeoutMs, sendInitialEvents, signal, silentUntilMs = 0, timeoutSeconds } = options;
    const ageMs = this.clock.monotonicNow() - beganMs;
    return new Promise((resolve) => {
      const done = (): void => {
        for (const timer of timers) timer.cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const end = (): void => {
        if (watcher.silent) return;
        watcher.signals.push({ end: true });
        done();
      };
      const idle = Math.max(0, silentUntilMs - ageMs) + idleTimeoutMs;
      const timers = [this.clock.setTimeout(done, idle)];
      if (!sendInitialEvents) timers.push(this.clock.setTimeout(end, timeoutSeconds * 1000 - ageMs));
      signal.addEventListener('abort', done, { once: true });
      watcher.wake = done;
      if (signal.aborted) done();
    });
  }
}

function isWithin(object: KubernetesObject, { namespace, shard }: Scope): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return shard?.includes(object) ?? true;
}

function expired(message: string): ApiStatusError {
  return new ApiStatusError({ code: 410, reason: 'Expired', message });
}

/** A FakeCluster with watches from now on; selectors are ignored. */
export class WatchableCluster extends FakeCluster {
  override async *watch<T extends KubernetesObject>(
    type?: ResourceType,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncIterable<WatchEvent<T>> {
    const waiting: WatchEvent<T>[] = [];
    let wake = (): void => undefined;
    const stop = this.onEvent((changed, event) => {
      if (type && qualifiedResource(changed) !== qualifiedResource(type)) return;
      waiting.push(event as unknown as WatchEvent<T>);
      wake();
    });
    signal?.addEventListener('abort', () => wake());
    while (!signal?.aborted) {
      const next = waiting.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    stop();
  }
}

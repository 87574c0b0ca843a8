import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../api-client/index.js';
import { ApiStatusError } from '../api-client/index.js';
import type { Clock } from '../clock/index.js';
import type { KubernetesObject, ResourceType } from '../kubernetes/index.js';
import { apiVersionOf, keyOf } from '../kubernetes/index.js';
import type { ListWatcher } from '../informer/index.js';

type Signal<T> = { readonly event: WatchEvent<T> } | { readonly end: true } | { readonly error: Error };

/** `page` is every page of a list but the first. */
type RequestVerb = 'list' | 'page' | 'watch';

interface Watcher<T> {
  readonly signals: Signal<T>[];
  wake: () => void;
  /** Half open: nothing arrives any more, and nobody says so. */
  silent: boolean;
}

interface Snapshot<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly offset: number;
  readonly limit: number;
}

/**
 * A server of one resource type in memory, whose troubles a test dictates: errors to answer with, watches to cut, end
 * or silence, history to forget. Hands out copies, as a network would.
 */
export class FakeListWatch<T extends KubernetesObject> implements ListWatcher {
  /** Every list (`list`, `page`, `list whole` without paging) and watch (with its resourceVersion) that was begun. */
  readonly requests: string[] = [];
  private readonly objects = new Map<string, T>();
  private readonly history: { readonly revision: number; readonly event: WatchEvent<T> }[] = [];
  private readonly snapshots = new Map<string, Snapshot<T>>();
  private readonly watchers = new Set<Watcher<T>>();
  private readonly failures: Record<RequestVerb, Error[]> = { list: [], page: [], watch: [] };
  private revision = 100;
  private forgottenUpTo = 0;
  private nextUid = 1;

  constructor(
    readonly type: ResourceType,
    private readonly clock: Clock,
  ) {}

  get resourceVersion(): string {
    return String(this.revision);
  }

  get openWatches(): number {
    return this.watchers.size;
  }

  /** What the server has, by key. */
  state(): Map<string, T> {
    return new Map([...this.objects].map(([key, object]) => [key, structuredClone(object)]));
  }

  /** Creates or modifies an object and tells the watches. Returns it as stored. */
  put(namespace: string, name: string, change: (object: T) => void = () => undefined): T {
    const old = this.objects.get(keyOf({ namespace, name }));
    const object = old ? structuredClone(old) : this.newObject(namespace, name);
    change(object);
    object.metadata.resourceVersion = String(++this.revision);
    this.objects.set(keyOf(object.metadata), object);
    this.publish({ type: old ? 'MODIFIED' : 'ADDED', object });
    return structuredClone(object);
  }

  /** Deletes an object; does nothing where there is none. */
  delete(namespace: string, name: string): void {
    const key = keyOf({ namespace, name });
    const old = this.objects.get(key);
    if (!old) return;
    this.objects.delete(key);
    const object = structuredClone(old);
    object.metadata.resourceVersion = String(++this.revision);
    this.publish({ type: 'DELETED', object });
  }

  /** Something of another type was written; a bookmark tells the watches. */
  bookmark(): void {
    this.revision++;
    this.send({ event: { type: 'BOOKMARK', resourceVersion: this.resourceVersion } });
  }

  /** The next `times` requests of this verb are answered with `error`. */
  failNext(verb: RequestVerb, error: Error, times = 1): void {
    for (let i = 0; i < times; i++) this.failures[verb].push(error);
  }

  /** Cuts every open watch with an error. */
  breakWatches(error: Error = new Error('connection reset')): void {
    this.send({ error });
  }

  /** Ends every open watch as the server does at its timeout. */
  endWatches(): void {
    this.send({ end: true });
  }

  /** Every open watch stays open and hears nothing more. */
  silenceWatches(): void {
    for (const watcher of this.watchers) watcher.silent = true;
  }

  /** Sends an event as it is, however old. */
  sendRaw(event: WatchEvent<T>): void {
    this.send({ event: structuredClone(event) });
  }

  /** Forgets history and continue tokens: watches from before now are answered with 410. */
  compact(): void {
    this.forgottenUpTo = this.revision;
    this.snapshots.clear();
  }

  async list<U extends KubernetesObject>(
    _type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<U>> {
    const verb = options.continueToken ? 'page' : 'list';
    this.requests.push(options.limit === undefined ? `${verb} whole` : verb);
    await Promise.resolve();
    options.signal?.throwIfAborted();
    this.failIfTold(verb);
    return this.page(this.snapshotFor(options)) as unknown as ListPage<U>;
  }

  async *watch<U extends KubernetesObject>(
    _type: ResourceType,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<U>, void, undefined> {
    this.requests.push(`watch ${options.resourceVersion}`);
    this.failIfTold('watch');
    if (Number(options.resourceVersion) < this.forgottenUpTo) throw expired('too old resource version');
    const watcher = this.openWatch(options.resourceVersion);
    try {
      for (;;) {
        const signal = await this.nextSignal(watcher, options);
        if ('end' in signal) return;
        if ('error' in signal) throw signal.error;
        yield structuredClone(signal.event) as unknown as WatchEvent<U>;
      }
    } finally {
      this.watchers.delete(watcher);
    }
  }

  private newObject(namespace: string, name: string): T {
    const uid = `uid-${this.nextUid++}`;
    const { kind } = this.type;
    return { apiVersion: apiVersionOf(this.type), kind, metadata: { namespace, name, uid } } as T;
  }

  private publish(event: WatchEvent<T>): void {
    this.history.push({ revision: this.revision, event });
    this.send({ event });
  }

  private send(signal: Signal<T>): void {
    for (const watcher of this.watchers) {
      if (watcher.silent) continue;
      watcher.signals.push(signal);
      watcher.wake();
    }
  }

  private failIfTold(verb: RequestVerb): void {
    const error = this.failures[verb].shift();
    if (error) throw error;
  }

  private snapshotFor(options: ListOptions): Snapshot<T> {
    if (options.continueToken) {
      const snapshot = this.snapshots.get(options.continueToken);
      if (!snapshot) throw expired('the provided continue parameter is too old');
      return snapshot;
    }
    const items = [...this.state().values()].filter(
      (object) => !options.namespace || object.metadata.namespace === options.namespace,
    );
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    return { items, resourceVersion: this.resourceVersion, offset: 0, limit };
  }

  private page({ items, resourceVersion, offset, limit }: Snapshot<T>): ListPage<T> {
    const end = offset + limit;
    if (end >= items.length) return { items: items.slice(offset), resourceVersion };
    const continueToken = `token-${resourceVersion}-${end}`;
    this.snapshots.set(continueToken, { items, resourceVersion, offset: end, limit });
    return { items: items.slice(offset, end), resourceVersion, continueToken };
  }

  private openWatch(resourceVersion: string): Watcher<T> {
    const missed = this.history.filter(({ revision }) => revision > Number(resourceVersion));
    const signals: Signal<T>[] = missed.map(({ event }) => ({ event }));
    const watcher: Watcher<T> = { signals, wake: () => undefined, silent: false };
    this.watchers.add(watcher);
    return watcher;
  }

  /** The next thing that arrives; an error when nothing does for the idle timeout, or on abort. */
  private async nextSignal(watcher: Watcher<T>, options: WatchOptions): Promise<Signal<T>> {
    if (watcher.signals.length === 0) await this.arrival(watcher, options);
    options.signal.throwIfAborted();
    return watcher.signals.shift() ?? { error: new Error('the watch fell silent') };
  }

  private arrival(watcher: Watcher<T>, { signal, idleTimeoutMs }: WatchOptions): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.clock.setTimeout(done, idleTimeoutMs);
      signal.addEventListener('abort', done, { once: true });
      watcher.wake = done;
      if (signal.aborted) done();
    });
  }
}

function expired(message: string): ApiStatusError {
  return new ApiStatusError({ code: 410, reason: 'Expired', message });
}

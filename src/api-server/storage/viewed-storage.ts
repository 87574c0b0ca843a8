import type { KubernetesObject, UnstructuredObject } from '../../base/kubernetes/index.js';
import { originOf } from './log-entry.js';
import type { LogEntry } from './log-entry.js';
import type {
  Revision,
  Storage,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageListOptions,
  StorageRecord,
  StorageWatchOptions,
  StoredObject,
} from './storage.js';

/** How objects are stored in another form than the one in which they are read and written. */
export interface ObjectView {
  /** Under which resource they are stored. */
  readonly resource: string;
  toStored(object: Readonly<UnstructuredObject>): UnstructuredObject | Promise<UnstructuredObject>;
  /** `undefined` where somebody else has to be asked: see `convert`. */
  fromStored(object: Readonly<UnstructuredObject>): UnstructuredObject | undefined;
  /** Asks about all objects of one page, or of what happened at once, together. The answer has their order. */
  convert?(objects: readonly Readonly<UnstructuredObject>[]): Promise<readonly UnstructuredObject[]>;
}

/**
 * A storage as somebody sees it who knows the objects of one resource in another form than they are stored in. Watchers of
 * one process share what somebody was asked about, and must not change it.
 */
export class ViewedStorage implements Storage {
  private readonly converted = new WeakMap<LogEntry, Promise<readonly KubernetesObject[]>>();

  constructor(
    private readonly storage: Storage,
    private readonly view: ObjectView,
  ) {}

  async create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>> {
    const stored = await this.view.toStored(object as unknown as UnstructuredObject);
    return this.shown(await this.storage.create(this.stored(key), stored));
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    const found = await this.storage.get(this.stored(key));
    return found && this.shown(found);
  }

  recall(key: StorageKey): StoredObject | undefined {
    const found = this.storage.recall(this.stored(key));
    const object = found && this.view.fromStored(found.object as UnstructuredObject);
    return object && { object, revision: found.revision };
  }

  async update<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    expectedRevision: Revision,
  ): Promise<StoredObject<T>> {
    const stored = await this.view.toStored(object as unknown as UnstructuredObject);
    return this.shown(await this.storage.update(this.stored(key), stored, expectedRevision));
  }

  async delete(key: StorageKey, expectedRevision: Revision): Promise<StoredObject> {
    return this.shown(await this.storage.delete(this.stored(key), expectedRevision));
  }

  async list(_resource: string, options?: StorageListOptions): Promise<StorageList> {
    const list = await this.storage.list(this.view.resource, options);
    const objects = await this.show(list.items.map(({ object }) => object));
    const items = list.items.map(({ revision }, index) => ({ object: objects[index]!, revision }));
    return { ...list, items };
  }

  async *watch(options: StorageWatchOptions, signal: AbortSignal): AsyncIterable<readonly StorageEvent[]> {
    const stored = { ...options, resource: this.view.resource };
    for await (const events of this.storage.watch(stored, signal)) {
      const states = this.view.convert ? this.shareStates(events) : [];
      const shown: StorageEvent[] = [];
      for (const [index, event] of events.entries())
        shown.push(withStates(event, (await states[index]) ?? (await this.show(statesOf(event)))));
      yield shown;
    }
  }

  currentRevision(): Promise<Revision> {
    return this.storage.currentRevision();
  }

  /** Of the whole store: views do not matter to it. */
  resources(): ReturnType<Storage['resources']> {
    return this.storage.resources();
  }

  replaceAll(records: AsyncIterable<StorageRecord>): Promise<Revision> {
    return this.storage.replaceAll(records);
  }

  compact(revision: Revision): Promise<void> {
    return this.storage.compact(revision);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.storage.run(signal);
  }

  secret(): Promise<Buffer> {
    return this.storage.secret();
  }

  ping(): Promise<void> {
    return this.storage.ping();
  }

  private stored(key: StorageKey): StorageKey {
    return { ...key, resource: this.view.resource };
  }

  private async shown<T extends KubernetesObject>({
    object,
    revision,
  }: StoredObject): Promise<StoredObject<T>> {
    const [shown] = await this.show([object]);
    return { object: shown as T, revision };
  }

  private async show(objects: readonly KubernetesObject[]): Promise<readonly KubernetesObject[]> {
    const known = objects.map((object) => this.view.fromStored(object as UnstructuredObject));
    const unknown = objects.filter((_, index) => known[index] === undefined) as UnstructuredObject[];
    const asked = unknown.length > 0 ? await this.view.convert?.(unknown) : undefined;
    const answers = (asked ?? []).values();
    return known.map((object) => object ?? answers.next().value!);
  }

  /** The states of events, those that no watcher has come to yet asked about together. */
  private shareStates(
    events: readonly StorageEvent[],
  ): readonly (Promise<readonly KubernetesObject[]> | undefined)[] {
    const origins = events.map(originOf);
    const isNew = (origin: LogEntry | undefined): boolean => !!origin && !this.converted.has(origin);
    const fresh = events.filter((_, index) => isNew(origins[index]));
    const all = this.show(fresh.flatMap(statesOf));
    let count = 0;
    for (const event of fresh) {
      const from = count;
      count += statesOf(event).length;
      const to = count;
      const origin = originOf(event)!;
      const states = all.then((objects) => objects.slice(from, to));
      // Whoever comes next asks again.
      states.catch(() => this.converted.delete(origin));
      this.converted.set(origin, states);
    }
    return origins.map((origin) => origin && this.converted.get(origin));
  }
}

function statesOf(event: StorageEvent): readonly KubernetesObject[] {
  if (event.type === 'progress') return [];
  return event.type === 'created' ? [event.object] : [event.object, event.previous];
}

function withStates(event: StorageEvent, [object, previous]: readonly KubernetesObject[]): StorageEvent {
  if (event.type === 'progress' || !object) return event;
  return event.type === 'created' || !previous ? { ...event, object } : { ...event, object, previous };
}

import type { KubernetesObject, UnstructuredObject } from '../../base/kubernetes/index.js';
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
  toStored(object: Readonly<UnstructuredObject>): UnstructuredObject;
  fromStored(object: Readonly<UnstructuredObject>): UnstructuredObject;
}

/** A storage as somebody sees it who knows the objects of one resource in another form than they are stored in. */
export class ViewedStorage implements Storage {
  constructor(
    private readonly storage: Storage,
    private readonly view: ObjectView,
  ) {}

  async create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>> {
    const stored = this.view.toStored(object as unknown as UnstructuredObject);
    return this.shown(await this.storage.create(this.stored(key), stored));
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    const found = await this.storage.get(this.stored(key));
    return found && this.shown(found);
  }

  recall(key: StorageKey): StoredObject | undefined {
    const found = this.storage.recall(this.stored(key));
    return found && this.shown(found);
  }

  async update<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    expectedRevision: Revision,
  ): Promise<StoredObject<T>> {
    const stored = this.view.toStored(object as unknown as UnstructuredObject);
    return this.shown(await this.storage.update(this.stored(key), stored, expectedRevision));
  }

  async delete(key: StorageKey, expectedRevision: Revision): Promise<StoredObject> {
    return this.shown(await this.storage.delete(this.stored(key), expectedRevision));
  }

  async list(_resource: string, options?: StorageListOptions): Promise<StorageList> {
    const list = await this.storage.list(this.view.resource, options);
    return { ...list, items: list.items.map((item) => this.shown(item)) };
  }

  async *watch(options: StorageWatchOptions, signal: AbortSignal): AsyncIterable<readonly StorageEvent[]> {
    const stored = { ...options, resource: this.view.resource };
    for await (const events of this.storage.watch(stored, signal))
      yield events.map((event) => this.shownEvent(event));
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

  ping(): Promise<void> {
    return this.storage.ping();
  }

  private stored(key: StorageKey): StorageKey {
    return { ...key, resource: this.view.resource };
  }

  private shown<T extends KubernetesObject>({ object, revision }: StoredObject): StoredObject<T> {
    return { object: this.show(object) as T, revision };
  }

  private show(object: KubernetesObject): KubernetesObject {
    return this.view.fromStored(object as UnstructuredObject);
  }

  private shownEvent(event: StorageEvent): StorageEvent {
    if (event.type === 'progress') return event;
    const object = this.show(event.object);
    return event.type === 'created'
      ? { ...event, object }
      : { ...event, object, previous: this.show(event.previous) };
  }
}

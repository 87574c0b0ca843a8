import { errorMessage } from '@rollkeeper/machinery/errors';
import { objectOfKind, unstructured } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { StorageUnreadableError } from './errors.js';
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
import type { UnreadableObjects } from './unreadable-objects.js';

/** How objects are stored in another form than the one in which they are read and written. */
export interface ObjectView {
  /** Under which resource they are stored. */
  readonly resource: string;
  toStored(object: Readonly<UnstructuredObject>): UnstructuredObject | Promise<UnstructuredObject>;
  /** `undefined` if a conversion request is needed: see `convert`. Throws for an unreadable stored object. */
  fromStored(object: Readonly<UnstructuredObject>): UnstructuredObject | undefined;
  /**
   * Asks about all objects of one page, or of what happened at once, together. The answer has their order, and an error in the place
   * of an object that is broken in the store.
   */
  convert?(objects: readonly Readonly<UnstructuredObject>[]): Promise<readonly Converted[]>;
}

export type Converted = UnstructuredObject | StorageUnreadableError;

/**
 * A view of a storage that converts the objects of one resource from their stored form. Watchers of one process share
 * converted objects, and must not change them. An unreadable object is left out of lists and watches, and reading it
 * fails as unreadable.
 */
export class ViewedStorage implements Storage {
  private readonly converted = new WeakMap<LogEntry, Promise<readonly Converted[]>>();

  constructor(
    private readonly storage: Storage,
    private readonly view: ObjectView,
    /** Collects unreadable objects. */
    private readonly unreadable?: Pick<UnreadableObjects, 'add' | 'hasAny' | 'remove'>,
  ) {}

  async create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>> {
    const stored = await this.view.toStored(unstructured(object));
    return this.shown(await this.storage.create(this.stored(key), stored));
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    const stored = this.stored(key);
    const found = await this.storage.get(stored);
    if (!found) return undefined;
    const [object] = await this.show([found.object]);
    this.note(stored, found.revision, object);
    return object instanceof StorageUnreadableError
      ? new BrokenState(found.revision, object)
      : { object: object!, revision: found.revision };
  }

  recall(key: StorageKey): StoredObject | undefined {
    const found = this.storage.recall(this.stored(key));
    const object = found && this.tryShow(found.object);
    return object && !(object instanceof StorageUnreadableError)
      ? { object, revision: found.revision }
      : undefined;
  }

  async update<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    expectedRevision: Revision,
  ): Promise<StoredObject<T>> {
    const stored = await this.view.toStored(unstructured(object));
    return this.shown(await this.storage.update(this.stored(key), stored, expectedRevision));
  }

  async delete(key: StorageKey, expectedRevision: Revision): Promise<StoredObject> {
    const removed = await this.storage.delete(this.stored(key), expectedRevision);
    const [object] = await this.show([removed.object]);
    // The object is deleted, even if it cannot be shown.
    if (!object || object instanceof StorageUnreadableError) return removed;
    return { object, revision: removed.revision };
  }

  async list(_resource: string, options?: StorageListOptions): Promise<StorageList> {
    const list = await this.storage.list(this.view.resource, options);
    const objects = await this.show(list.items.map(({ object }) => object));
    const items = list.items.flatMap(({ key, revision }, index) => {
      const object = objects[index]!;
      if (key) this.note(key, revision, object);
      return object instanceof StorageUnreadableError ? [] : [{ object, revision, key }];
    });
    return { ...list, items };
  }

  async *watch(options: StorageWatchOptions, signal: AbortSignal): AsyncIterable<readonly StorageEvent[]> {
    const stored = { ...options, resource: this.view.resource };
    for await (const events of this.storage.watch(stored, signal)) {
      const states = this.view.convert ? this.shareStates(events) : [];
      const shown: StorageEvent[] = [];
      for (const [index, event] of events.entries()) {
        const objects = (await states[index]) ?? (await this.show(statesOf(event)));
        if (event.type !== 'progress') this.note(event.key, event.revision, objects[0]);
        if (objects.every(isSound)) shown.push(withStates(event, objects));
      }
      if (shown.length > 0) yield shown;
    }
  }

  currentRevision(): Promise<Revision> {
    return this.storage.currentRevision();
  }

  /** The resources of the whole store: views do not matter to it. */
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

  assertWritable(): Promise<void> {
    return this.storage.assertWritable();
  }

  private stored(key: StorageKey): StorageKey {
    return { ...key, resource: this.view.resource };
  }

  private async shown<T extends KubernetesObject>({
    object,
    revision,
  }: StoredObject): Promise<StoredObject<T>> {
    const [shown] = await this.show([object]);
    if (shown instanceof StorageUnreadableError) throw shown;
    return { object: objectOfKind<T>(shown!), revision };
  }

  private note(key: StorageKey, revision: Revision, object: Converted | undefined): void {
    const { resource } = this.view;
    if (object instanceof StorageUnreadableError)
      this.unreadable?.add({ ...key, resource }, revision, object.message);
    else if (this.unreadable?.hasAny(resource)) this.unreadable.remove({ ...key, resource });
  }

  private tryShow(object: UnstructuredObject): Converted | undefined {
    try {
      return this.view.fromStored(object);
    } catch (error) {
      if (error instanceof StorageUnreadableError) return error;
      return new StorageUnreadableError(errorMessage(error), { cause: error });
    }
  }

  private async show(objects: readonly UnstructuredObject[]): Promise<readonly Converted[]> {
    const known = objects.map((object) => this.tryShow(object));
    const unknown = objects.filter((_, index) => known[index] === undefined);
    const asked = unknown.length > 0 ? await this.view.convert?.(unknown) : undefined;
    const answers = (asked ?? []).values();
    return known.map((object) => object ?? answers.next().value!);
  }

  /** The states of events, those that no watcher has come to yet asked about together. */
  private shareStates(
    events: readonly StorageEvent[],
  ): readonly (Promise<readonly Converted[]> | undefined)[] {
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
      // The next caller asks again.
      states.catch(() => this.converted.delete(origin));
      this.converted.set(origin, states);
    }
    return origins.map((origin) => origin && this.converted.get(origin));
  }
}

/** The state under a name that cannot be shown. */
class BrokenState implements StoredObject {
  constructor(
    readonly revision: Revision,
    private readonly problem: StorageUnreadableError,
  ) {}

  get object(): never {
    throw this.problem;
  }
}

function isSound(object: Converted): object is UnstructuredObject {
  return !(object instanceof StorageUnreadableError);
}

function statesOf(event: StorageEvent): readonly UnstructuredObject[] {
  if (event.type === 'progress') return [];
  return event.type === 'created' ? [event.object] : [event.object, event.previous];
}

function withStates(event: StorageEvent, [object, previous]: readonly UnstructuredObject[]): StorageEvent {
  if (event.type === 'progress' || !object) return event;
  return event.type === 'created' || !previous ? { ...event, object } : { ...event, object, previous };
}

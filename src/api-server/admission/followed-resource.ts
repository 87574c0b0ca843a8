import type { Clock } from '../../base/clock/index.js';
import { errorMessage } from '../../base/errors/index.js';
import type { KubernetesObject } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import { StorageExpiredError } from '../storage/index.js';
import type { Revision, Storage, StorageList, StoredObject } from '../storage/index.js';

const RETRY_MS = 200;
/** Characters of what is read together. */
const PAGE_LENGTH = 1024 * 1024;

/** `object` is absent once it is gone: older news of it may still be on their way. */
interface Entry<T> {
  readonly revision: Revision;
  readonly object?: T;
}

type ByName<T> = Map<string, Entry<T>>;

/**
 * All objects of one resource that admission decides by, from a watch: asking for them costs no read. What this
 * process writes it is told at once, what others write a moment later. The objects are read-only.
 */
export class FollowedResource<T extends KubernetesObject = KubernetesObject> {
  private namespaces = new Map<string, ByName<T>>();
  private after: Revision | undefined;

  constructor(
    /** Qualified: `storageclasses.storage.k8s.io`. */
    readonly resource: string,
    private readonly dependencies: {
      readonly storage: Storage;
      readonly clock: Clock;
      readonly logger: Logger;
    },
  ) {}

  get(namespace: string, name: string): Readonly<T> | undefined {
    return this.namespaces.get(namespace)?.get(name)?.object;
  }

  /** In no particular order; `''` for those without a namespace. */
  list(namespace: string): readonly Readonly<T>[] {
    const found = this.namespaces.get(namespace);
    if (!found) return [];
    return [...found.values()].flatMap(({ object }) => object ?? []);
  }

  /** Tells of a state; older news than what is known are ignored. */
  observe(object: KubernetesObject): void {
    const { namespace = '', name, resourceVersion } = object.metadata;
    this.put(namespace, name, { revision: Number(resourceVersion), object: object as T });
  }

  /** Tells that the object has been removed, at `revision`. */
  forget(namespace: string, name: string, revision: Revision): void {
    this.put(namespace, name, { revision });
  }

  /** Asks the store for an object that the watch may not have shown yet. */
  async lookUp(namespace: string, name: string): Promise<Readonly<T> | undefined> {
    const { storage } = this.dependencies;
    const found = await storage.get({ resource: this.resource, namespace, name });
    if (found) this.observe(found.object);
    return found?.object as T | undefined;
  }

  /** Reads what there is. */
  async load(): Promise<void> {
    const { storage } = this.dependencies;
    const loaded = new Map<string, ByName<T>>();
    let page: StorageList | undefined;
    do {
      page = await storage.list(this.resource, { maxTextLength: PAGE_LENGTH, continueFrom: page?.next });
      for (const item of page.items) addTo(loaded, item as StoredObject<T>);
    } while (page.next);
    const known = this.namespaces;
    this.namespaces = loaded;
    // What was told meanwhile is newer than the list.
    for (const [namespace, entries] of known)
      for (const [name, entry] of entries)
        if (entry.revision > page.revision) this.put(namespace, name, entry);
    this.after = page.revision;
  }

  /** Follows the resource until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.dependencies;
    while (!signal.aborted) {
      try {
        if (this.after === undefined) await this.load();
        await this.follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.after = undefined;
        // The store has been replaced, or we were too slow: there is nothing to wait for.
        if (error instanceof StorageExpiredError) continue;
        logger.warn('a watch for admission broke, starting again', {
          resource: this.resource,
          error: errorMessage(error),
        });
      }
      if (!signal.aborted) await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const { storage } = this.dependencies;
    const after = this.after ?? 0;
    for await (const events of storage.watch({ resource: this.resource, after }, signal)) {
      for (const event of events) {
        this.after = event.revision;
        if (event.type === 'progress') continue;
        if (event.type === 'deleted') this.drop(event.key.namespace, event.key.name, event.revision);
        else this.observe(event.object);
      }
    }
  }

  private put(namespace: string, name: string, entry: Entry<T>): void {
    const entries = this.namespaces.get(namespace) ?? new Map<string, Entry<T>>();
    if ((entries.get(name)?.revision ?? 0) >= entry.revision) return;
    entries.set(name, entry);
    this.namespaces.set(namespace, entries);
  }

  /** The watch has come to the removal: no older news can follow. */
  private drop(namespace: string, name: string, revision: Revision): void {
    const entries = this.namespaces.get(namespace);
    if (!entries || (entries.get(name)?.revision ?? 0) > revision) return;
    entries.delete(name);
    if (entries.size === 0) this.namespaces.delete(namespace);
  }
}

function addTo<T extends KubernetesObject>(
  namespaces: Map<string, ByName<T>>,
  { object, revision }: StoredObject<T>,
): void {
  const { namespace = '', name } = object.metadata;
  const entries = namespaces.get(namespace) ?? new Map<string, Entry<T>>();
  entries.set(name, { revision, object });
  namespaces.set(namespace, entries);
}

import type { Clock } from '../../base/clock/index.js';
import { errorMessage } from '../../base/errors/index.js';
import type { KubernetesObject } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { Revision, Storage, StorageKey, StorageList, StoredObject } from './storage.js';

const RETRY_MS = 200;
/** Characters of what is read together. */
const PAGE_LENGTH = 1024 * 1024;

export interface MirrorOptions {
  /** Qualified. */
  readonly resource: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told every new state once, in order; `undefined`: the object is gone. */
  readonly onChange: (key: StorageKey, object: KubernetesObject | undefined) => void;
}

/**
 * Tells every state of the objects of one resource: from a watch, and of the writes of this process before they have
 * been answered, so that it never acts on its own yesterday.
 */
export class ResourceMirror {
  readonly resource: string;
  /** Of objects that this process has removed, too, until the watch tells of it: what it tells before is older. */
  private readonly known = new Map<string, { readonly key: StorageKey; readonly revision: Revision }>();
  private readonly options: MirrorOptions;

  constructor(options: MirrorOptions) {
    this.options = options;
    this.resource = options.resource;
  }

  /** Takes over all objects as they are now. Returns the revision of which they are. */
  async load(storage: Storage): Promise<Revision> {
    const seen = new Set<string>();
    let page: StorageList | undefined;
    do {
      page = await storage.list(this.resource, { maxTextLength: PAGE_LENGTH, continueFrom: page?.next });
      for (const { object, revision } of page.items) {
        const { name, namespace = '' } = object.metadata;
        const key = { resource: this.resource, namespace, name };
        seen.add(idOf(key));
        this.tell(key, object, revision);
      }
    } while (page.next);
    for (const [id, { key, revision }] of this.known)
      if (!seen.has(id) && revision <= page.revision) this.drop(id, key);
    return page.revision;
  }

  /** Follows the objects until aborted, from `after` or from what there is. */
  async run(storage: Storage, signal: AbortSignal, after?: Revision): Promise<void> {
    const { clock, logger } = this.options;
    let from = after;
    while (!signal.aborted) {
      try {
        await this.follow(storage, signal, from ?? (await this.load(storage)));
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('a watch of the store broke, starting again', {
          resource: this.resource,
          error: errorMessage(error),
        });
      }
      from = undefined;
      if (!signal.aborted) await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }

  /** Takes over a state that may be older than what is known. */
  tell(key: StorageKey, object: KubernetesObject | undefined, revision: Revision): void {
    const id = idOf(key);
    if ((this.known.get(id)?.revision ?? -1) >= revision) return;
    this.known.set(id, { key, revision });
    this.options.onChange(key, object);
  }

  private async follow(storage: Storage, signal: AbortSignal, after: Revision): Promise<void> {
    for await (const events of storage.watch({ resource: this.resource, after }, signal)) {
      for (const event of events) {
        if (event.type === 'progress') continue;
        const { key, object, revision, type } = event;
        this.tell(key, type === 'deleted' ? undefined : object, revision);
        if (type === 'deleted' && this.known.get(idOf(key))?.revision === revision)
          this.known.delete(idOf(key));
      }
    }
  }

  private drop(id: string, key: StorageKey): void {
    this.known.delete(id);
    this.options.onChange(key, undefined);
  }
}

/** `storage`, whose writes to certain resources are told to their mirrors before they resolve. */
export function mirroredStorage(storage: Storage, mirrors: readonly ResourceMirror[]): Storage {
  const byResource = new Map(mirrors.map((mirror) => [mirror.resource, mirror]));
  const told = async <T extends KubernetesObject>(
    key: StorageKey,
    write: Promise<StoredObject<T>>,
    isRemoval = false,
  ): Promise<StoredObject<T>> => {
    const stored = await write;
    byResource.get(key.resource)?.tell(key, isRemoval ? undefined : stored.object, stored.revision);
    return stored;
  };
  const isMirrored = ({ resource }: StorageKey): boolean => byResource.has(resource);
  return {
    create: (key, object) =>
      isMirrored(key) ? told(key, storage.create(key, object)) : storage.create(key, object),
    update: (key, object, revision) =>
      isMirrored(key)
        ? told(key, storage.update(key, object, revision))
        : storage.update(key, object, revision),
    delete: (key, revision) =>
      isMirrored(key) ? told(key, storage.delete(key, revision), true) : storage.delete(key, revision),
    get: (key) => storage.get(key),
    recall: (key) => storage.recall(key),
    list: (resource, options) => storage.list(resource, options),
    watch: (options, signal) => storage.watch(options, signal),
    currentRevision: () => storage.currentRevision(),
    resources: () => storage.resources(),
    replaceAll: (records) => storage.replaceAll(records),
    compact: (revision) => storage.compact(revision),
    run: (signal) => storage.run(signal),
    ping: () => storage.ping(),
  };
}

function idOf({ namespace, name }: StorageKey): string {
  return `${namespace}/${name}`;
}

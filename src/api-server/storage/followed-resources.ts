import type { KubernetesObject } from '../../base/kubernetes/index.js';
import { FollowedObjects, FollowedResource } from './followed-resource.js';
import type { FollowDependencies } from './followed-resource.js';
import type { Storage, StorageKey, StoredObject } from './storage.js';

/**
 * What a server keeps in memory of a store: the resources that somebody asked for with {@link of} or {@link objects}
 * before {@link load}.
 */
export class FollowedResources {
  /** The store. A write to a followed resource is told of before it resolves; others pay for looking that up. */
  readonly storage: Storage;
  private readonly followed = new Map<string, FollowedResource>();

  constructor(
    private readonly inner: Storage,
    private readonly dependencies: FollowDependencies,
  ) {
    this.storage = this.telling();
  }

  /** @param resource qualified */
  of(resource: string): FollowedResource {
    const existing = this.followed.get(resource);
    if (existing) return existing;
    const followed = new FollowedResource(resource, this.inner, this.dependencies);
    this.followed.set(resource, followed);
    return followed;
  }

  /** @param resource qualified */
  objects<T extends KubernetesObject = KubernetesObject>(resource: string): FollowedObjects<T> {
    return new FollowedObjects<T>(this.of(resource));
  }

  /** Reads them all. Before the first request. */
  async load(): Promise<void> {
    await Promise.all([...this.followed.values()].map((resource) => resource.load()));
  }

  /** Follows them all until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.followed.values()].map((resource) => resource.run(signal)));
  }

  private telling(): Storage {
    const { inner } = this;
    return {
      create: (key, object) => this.told(key, inner.create(key, object)),
      update: (key, object, revision) => this.told(key, inner.update(key, object, revision)),
      delete: (key, revision) => this.told(key, inner.delete(key, revision), { isRemoval: true }),
      get: (key) => inner.get(key),
      recall: (key) => inner.recall(key),
      list: (resource, options) => inner.list(resource, options),
      watch: (options, signal) => inner.watch(options, signal),
      currentRevision: () => inner.currentRevision(),
      resources: () => inner.resources(),
      replaceAll: (records) => inner.replaceAll(records),
      compact: (revision) => inner.compact(revision),
      run: (signal) => inner.run(signal),
      ping: () => inner.ping(),
    };
  }

  private told<T extends KubernetesObject>(
    key: StorageKey,
    write: Promise<StoredObject<T>>,
    { isRemoval = false } = {},
  ): Promise<StoredObject<T>> {
    const followed = this.followed.get(key.resource);
    if (!followed) return write;
    return write.then((stored) => {
      followed.tell(key, isRemoval ? undefined : stored.object, stored.revision);
      return stored;
    });
  }
}

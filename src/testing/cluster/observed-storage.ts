import type { Storage } from '@rollkeeper/apiserver';

/** Wraps `storage` to report every write. */
export function observedStorage(
  storage: Storage,
  wrote: (resource: string, revision: number) => void,
): Storage {
  const told = async <T extends { readonly revision: number }>(
    resource: string,
    write: Promise<T>,
  ): Promise<T> => {
    const stored = await write;
    wrote(resource, stored.revision);
    return stored;
  };
  return {
    create: (key, object) => told(key.resource, storage.create(key, object)),
    update: (key, object, revision) => told(key.resource, storage.update(key, object, revision)),
    delete: (key, revision) => told(key.resource, storage.delete(key, revision)),
    get: (key) => storage.get(key),
    recall: (key) => storage.recall(key),
    list: (resource, options) => storage.list(resource, options),
    watch: (options, signal) => storage.watch(options, signal),
    currentRevision: () => storage.currentRevision(),
    resources: () => storage.resources(),
    replaceAll: async (records) => {
      const before = await storage.resources();
      const revision = await storage.replaceAll(records);
      const after = await storage.resources();
      // Removed resources have changed as well.
      for (const resource of new Set([...before.resources, ...after.resources])) wrote(resource, revision);
      return revision;
    },
    compact: (revision) => storage.compact(revision),
    run: (signal) => storage.run(signal),
    secret: () => storage.secret(),
    ping: () => storage.ping(),
    assertWritable: () => storage.assertWritable(),
  };
}

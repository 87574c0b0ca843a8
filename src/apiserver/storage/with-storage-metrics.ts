import type { Clock } from '@rollkeeper/machinery/clock';
import type { Storage } from './storage.js';

/** Called with the duration of an operation; `resource` as in storage keys, empty if it concerns none. */
type ObserveStorage = (
  operation: 'create' | 'get' | 'update' | 'delete' | 'list',
  resource: string,
  outcome: 'ok' | 'error',
  durationMs: number,
) => void;

/** `storage`, which also reports every operation that has an end. */
export function withStorageMetrics(
  storage: Storage,
  clock: Pick<Clock, 'monotonicNow'>,
  observe: ObserveStorage,
): Storage {
  const timed = async <T>(
    operation: Parameters<ObserveStorage>[0],
    resource: string,
    work: () => Promise<T>,
  ): Promise<T> => {
    const startedMs = clock.monotonicNow();
    let outcome: 'ok' | 'error' = 'error';
    try {
      const result = await work();
      outcome = 'ok';
      return result;
    } finally {
      observe(operation, resource, outcome, clock.monotonicNow() - startedMs);
    }
  };
  return {
    create: (key, object) => timed('create', key.resource, () => storage.create(key, object)),
    get: (key) => timed('get', key.resource, () => storage.get(key)),
    recall: (key) => storage.recall(key),
    update: (key, object, revision) =>
      timed('update', key.resource, () => storage.update(key, object, revision)),
    delete: (key, revision) => timed('delete', key.resource, () => storage.delete(key, revision)),
    list: (resource, options) => timed('list', resource, () => storage.list(resource, options)),
    watch: (options, signal) => storage.watch(options, signal),
    currentRevision: () => storage.currentRevision(),
    resources: () => storage.resources(),
    replaceAll: (records) => storage.replaceAll(records),
    compact: (revision) => storage.compact(revision),
    run: (signal) => storage.run(signal),
    secret: () => storage.secret(),
    ping: () => storage.ping(),
    assertWritable: () => storage.assertWritable(),
  };
}

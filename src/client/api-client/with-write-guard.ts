import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, DeleteOptions, ListOptions, PatchType, WriteOptions } from './api-client.js';

/**
 * Wraps `client` for work that may lose its right to write. Once `signal` has aborted, no write starts, not even a
 * retry after 429; it rejects with the signal's reason. A write in flight is allowed to finish, so that its outcome is
 * known. Reads without a signal of their own get this one.
 *
 * @param assertMayWrite an additional check for rights that expire: a timer, and so the signal, is late if the process
 *   was paused. Both are checked before each attempt, and again right before its first byte is sent
 */
export function withWriteGuard(
  client: ApiClient,
  signal: AbortSignal,
  assertMayWrite?: () => void,
): ApiClient {
  const guarded = <Options extends object>(options: Options | undefined) => {
    signal.throwIfAborted();
    assertMayWrite?.();
    return {
      ...options,
      guard: signal,
      ...(assertMayWrite ? { assertMayWrite } : {}),
    };
  };
  return {
    get: (type, ref, options) => client.get(type, ref, { signal, ...options }),
    list: (type, options?: ListOptions) => client.list(type, { signal, ...options }),
    watch: (type, options) => client.watch(type, options),
    logs: (pod, options) => client.logs(pod, { signal, ...options }),
    exec: async (pod, command, options) => client.exec(pod, command, { signal, ...guarded(options) }),
    portForward: async (pod, port, options) => client.portForward(pod, port, { signal, ...guarded(options) }),
    discover: (options) => client.discover({ signal, ...options }),
    ping: (options) => client.ping({ signal, ...options }),
    verifiesNames: (options) => client.verifiesNames({ signal, ...options }),
    create: async <T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions) =>
      client.create(type, object, guarded(options)),
    update: async <T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions) =>
      client.update(type, object, guarded(options)),
    patch: async <T extends KubernetesObject>(
      type: ResourceType,
      ref: ObjectRef,
      patch: { readonly type: PatchType; readonly body: unknown },
      options?: WriteOptions,
    ) => client.patch<T>(type, ref, patch, guarded(options)),
    delete: async <T extends KubernetesObject>(type: ResourceType, ref: ObjectRef, options?: DeleteOptions) =>
      client.delete<T>(type, ref, guarded(options)),
    deleteCollection: async (type, options) => client.deleteCollection(type, guarded(options)),
  };
}

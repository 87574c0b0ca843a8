import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, DeleteOptions } from '@rollkeeper/client/api-client';
import type { TestClusterClock } from './cluster-clock.js';
import type { ListFilter, WaitOptions } from './cluster-objects.js';
import type { ClusterUser } from './cluster-users.js';
import type { ClusterAccess } from './cluster-access.js';
import type { Manifests } from './manifests.js';
import type { ObjectName, ResourceName } from './resource-names.js';
import type { TestClusterSnapshot } from './snapshot.js';
import type { WaitCondition } from './wait-conditions.js';

/** The options of {@link TestCluster.settled}. */
export interface SettleOptions {
  /** By the machine's clock, milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * A Kubernetes API with working controllers and simulated nodes, in this process. Once the cluster has stopped or a
 * part of it has failed, every method rejects with the reason.
 */
export interface TestCluster extends ClusterAccess, AsyncDisposable {
  /** `KUBECONFIG`, for `child_process` and the like: `{ env: { ...process.env, ...cluster.env } }`. */
  readonly env: { readonly KUBECONFIG: string };
  /** The API as controllers see it, for everything without a method here. */
  readonly client: ApiClient;
  readonly clock: TestClusterClock;
  /**
   * The access of another user, with a kubeconfig and a client of its own: one of the option `users`, or an existing
   * service account by its user name (`system:serviceaccount:NAMESPACE:NAME`).
   * @throws InvalidOptionError for an unknown name
   */
  user(name: string): Promise<ClusterUser>;
  /**
   * Server-side apply with the field manager `test-cluster`, in the order of the manifests, namespaces and definitions
   * first; takes over fields of other managers. Resolves with the stored objects.
   */
  apply(manifests: Manifests): Promise<KubernetesObject[]>;
  /** `undefined` if there is none. */
  get<T extends KubernetesObject>(name: ObjectName): Promise<T | undefined>;
  list<T extends KubernetesObject>(resource: ResourceName, filter?: ListFilter): Promise<T[]>;
  /** A JSON merge patch (RFC 7386). Resolves with the stored object. */
  patch<T extends KubernetesObject>(
    name: ObjectName,
    body: Readonly<Record<string, unknown>>,
    options?: { readonly subresource?: string },
  ): Promise<T>;
  /** Requests the deletion: `waitFor(name, 'delete')` waits for its end. No-op if there is no such object. */
  delete(
    name: ObjectName,
    options?: Pick<DeleteOptions, 'propagationPolicy' | 'gracePeriodSeconds'>,
  ): Promise<void>;
  /**
   * Resolves with the object as soon as the condition holds, by a watch.
   * @param condition `create`, `delete`, `condition=TYPE[=STATUS]` (as `kubectl wait --for`), `rollout` (as
   *   `kubectl rollout status`); or a predicate called with every state of the object, `undefined` if there is none
   * @throws TimeoutError describing the last state; the signal's reason; what `condition` throws
   */
  waitFor<T extends KubernetesObject>(
    name: ObjectName,
    condition: string | WaitCondition<T>,
    options?: WaitOptions,
  ): Promise<DeepReadonly<T> | undefined>;
  /**
   * Resolves when the cluster's own controllers and nodes have nothing left to do. Ignores work that waits for a later
   * time (a `minReadySeconds`, a retry in more than half a second), and programs that the cluster does not run.
   * @throws TimeoutError describing the current activity; UnsupportedError on an existing cluster, which others work on
   */
  settled(options?: SettleOptions): Promise<void>;
  /**
   * Everything in the cluster at this moment, even while it changes.
   * @throws UnsupportedError on an existing cluster
   */
  snapshot(): Promise<TestClusterSnapshot>;
  /**
   * Restores a snapshot of this cluster or of another one, including a manual clock. Controllers and nodes are stopped
   * before and restarted after; other watches see the differences as changes. resourceVersions do not go back.
   * @throws UnsupportedError on an existing cluster
   */
  restore(snapshot: TestClusterSnapshot): Promise<void>;
  /**
   * Stops everything and leaves nothing behind. An existing cluster keeps running: deletes what manifests, `apply` and
   * the clients' `create` have made there, with all that it owns. A second call has the result of the first.
   * @throws the error of a part that had failed before; TimeoutError naming what an existing cluster keeps
   */
  stop(): Promise<void>;
}

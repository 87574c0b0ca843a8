import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, DeleteOptions } from '@rollkeeper/client/api-client';
import type { TestClusterClock } from './cluster-clock.js';
import type { ListFilter, WaitOptions } from './cluster-objects.js';
import type { ClusterUser } from './cluster-users.js';
import type { ClusterAccess } from './control-plane.js';
import type { Manifests } from './manifests.js';
import type { ObjectName, ResourceName } from './resource-names.js';
import type { TestClusterSnapshot } from './snapshot.js';
import type { WaitCondition } from './wait-conditions.js';

export interface SettleOptions {
  /** By the machine's clock, milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * A Kubernetes API with working controllers and simulated nodes, in this process. Every method rejects once the cluster
 * has stopped, or a part of it has failed, with the reason.
 */
export interface TestCluster extends ClusterAccess, AsyncDisposable {
  /** `KUBECONFIG`, for `child_process` and the like: `{ env: { ...process.env, ...cluster.env } }`. */
  readonly env: { readonly KUBECONFIG: string };
  /** The API as controllers see it; for everything that is not among the methods here. */
  readonly client: ApiClient;
  readonly clock: TestClusterClock;
  /**
   * The way in of somebody else, with a kubeconfig and a client of their own: of one of the option `users`, or of a service
   * account that exists, by its name as a user (`system:serviceaccount:NAMESPACE:NAME`).
   * @throws InvalidOptionError for a name that is nobody's
   */
  user(name: string): Promise<ClusterUser>;
  /**
   * Server-side apply with the field manager `test-cluster`, in the order of the manifests, namespaces and definitions
   * first; fields of other managers are taken over. Resolves with what is stored.
   */
  apply(manifests: Manifests): Promise<KubernetesObject[]>;
  /** `undefined` where there is none. */
  get<T extends KubernetesObject>(name: ObjectName): Promise<T | undefined>;
  list<T extends KubernetesObject>(resource: ResourceName, filter?: ListFilter): Promise<T[]>;
  /** A JSON merge patch (RFC 7386). Resolves with what is stored. */
  patch<T extends KubernetesObject>(
    name: ObjectName,
    body: Readonly<Record<string, unknown>>,
    options?: { readonly subresource?: string },
  ): Promise<T>;
  /** Asks for the deletion: `waitFor(name, 'delete')` waits for its end. Does nothing where there is no such object. */
  delete(
    name: ObjectName,
    options?: Pick<DeleteOptions, 'propagationPolicy' | 'gracePeriodSeconds'>,
  ): Promise<void>;
  /**
   * Resolves with the object as soon as it is so, by a watch.
   * @param condition `create`, `delete`, `condition=TYPE[=STATUS]` (as `kubectl wait --for`), `rollout` (as `kubectl rollout
   *   status`); or what says yes, told of every state of the object, `undefined` where there is none
   * @throws TimeoutError telling the last state; the signal's reason; what `condition` throws
   */
  waitFor<T extends KubernetesObject>(
    name: ObjectName,
    condition: string | WaitCondition<T>,
    options?: WaitOptions,
  ): Promise<DeepReadonly<T> | undefined>;
  /**
   * Resolves when the cluster's own controllers and nodes have nothing left to do: what waits for a time to come (a
   * `minReadySeconds`, a retry in more than half a second) is not waited for, nor are programs that the cluster does not run.
   * @throws TimeoutError telling what goes on
   */
  settled(options?: SettleOptions): Promise<void>;
  /** Everything that is in the cluster at this moment, whatever is under way. */
  snapshot(): Promise<TestClusterSnapshot>;
  /**
   * Brings everything back to a snapshot, of this cluster or of another one; a manual clock too. Controllers and nodes stop
   * before and start anew after; watches of others see the differences as changes. resourceVersions do not go back.
   */
  restore(snapshot: TestClusterSnapshot): Promise<void>;
  /**
   * Stops everything and leaves nothing behind. A second call does the same as the first.
   * @throws the failure of a part that had failed before
   */
  stop(): Promise<void>;
}

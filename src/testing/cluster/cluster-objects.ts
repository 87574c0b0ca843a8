import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { ShutdownError, TimeoutError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient, DeleteOptions } from '@rollkeeper/client/api-client';
import { isNotFound, unlessGone } from '@rollkeeper/client/api-client';
import { SharedInformer } from '@rollkeeper/client/informer';
import type { Manifests } from './manifests.js';
import { readManifests } from './manifests.js';
import type { NamedObject, ObjectName, ResourceName } from './resource-names.js';
import { ResourceNames } from './resource-names.js';
import type { WaitCondition } from './wait-conditions.js';
import { conditionOf, describeState } from './wait-conditions.js';

/** The objects that {@link TestCluster.list} returns. */
export interface ListFilter {
  /** @default all namespaces */
  readonly namespace?: string;
  /** As kubectl's `-l`. */
  readonly labelSelector?: string;
  /** As kubectl's `--field-selector`. */
  readonly fieldSelector?: string;
}

/** The options of {@link TestCluster.waitFor}. */
export interface WaitOptions {
  /** By the machine's clock, milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

interface ClusterObjectsDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Aborts with the reason once the cluster is no longer usable. */
  readonly ended: AbortSignal;
  /** Called with each object of manifests that was not there before. @default nothing */
  readonly onMade?: (type: ResourceType, object: KubernetesObject) => void;
  /** Called after each object of manifests was applied, before the next one is. @default nothing */
  readonly onApplied?: (object: KubernetesObject) => Promise<void>;
}

/** The objects that a wait has seen. */
interface Seen<T extends KubernetesObject> {
  any: boolean;
  last?: DeepReadonly<T> | undefined;
}

const FIELD_MANAGER = 'test-cluster';
const WAIT_TIMEOUT_MS = 30_000;

/** The objects of a test cluster, as an API for tests. */
export class ClusterObjects {
  private readonly names: ResourceNames;

  constructor(private readonly dependencies: ClusterObjectsDependencies) {
    this.names = new ResourceNames(dependencies.client);
  }

  /**
   * Server-side apply, in the order of the manifests; takes over fields of other managers. Resolves with the stored
   * objects.
   */
  async apply(manifests: Manifests): Promise<KubernetesObject[]> {
    const { client, ended: signal, onApplied, onMade } = this.dependencies;
    const applied: KubernetesObject[] = [];
    for (const body of await readManifests(manifests)) {
      const { ref, type } = await this.names.objectOf(body, signal);
      const patch = { type: 'apply', body } as const;
      const isNew = onMade && (await unlessGone(client.get(type, ref, { signal }))) === undefined;
      const object = await client.patch<KubernetesObject>(type, ref, patch, {
        ...{ fieldManager: FIELD_MANAGER, force: true, signal },
      });
      if (isNew) onMade(type, object);
      await onApplied?.(object);
      applied.push(object);
    }
    return applied;
  }

  /** `undefined` if there is none. */
  async get<T extends KubernetesObject>(name: ObjectName): Promise<T | undefined> {
    const { client, ended: signal } = this.dependencies;
    const { ref, type } = await this.names.objectOf(name, signal);
    return unlessGone(client.get<T>(type, ref, { signal }));
  }

  async list<T extends KubernetesObject>(resource: ResourceName, filter: ListFilter = {}): Promise<T[]> {
    const { client, ended: signal } = this.dependencies;
    const type = await this.names.typeOf(resource, signal);
    return [...(await client.list<T>(type, { ...filter, signal })).items];
  }

  /** A JSON merge patch (RFC 7386). Resolves with the stored object. */
  async patch<T extends KubernetesObject>(
    name: ObjectName,
    body: Readonly<Record<string, unknown>>,
    options: { readonly subresource?: string } = {},
  ): Promise<T> {
    const { client, ended: signal } = this.dependencies;
    const { ref, type } = await this.names.objectOf(name, signal);
    return client.patch<T>(
      type,
      ref,
      { type: 'merge', body },
      { ...options, fieldManager: FIELD_MANAGER, signal },
    );
  }

  /** Requests the deletion, of dependents too as kubectl does; wait for its end with `waitFor(name, 'delete')`. No-op if there is no such object. */
  async delete(
    name: ObjectName,
    options: Pick<DeleteOptions, 'propagationPolicy' | 'gracePeriodSeconds'> = {},
  ): Promise<void> {
    const { client, ended: signal } = this.dependencies;
    const { ref, type } = await this.names.objectOf(name, signal);
    await client
      .delete(type, ref, { propagationPolicy: 'Background', ...options, signal })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }

  /**
   * Resolves with the object as soon as the condition holds, by a watch. Looks at least once, however long that takes.
   * @param condition see {@link conditionOf}; or a predicate called with every state of the object
   * @throws TimeoutError describing the last state; the signal's reason; what `condition` throws
   */
  async waitFor<T extends KubernetesObject>(
    name: ObjectName,
    condition: string | WaitCondition<T>,
    { signal, timeoutMs = WAIT_TIMEOUT_MS }: WaitOptions = {},
  ): Promise<DeepReadonly<T> | undefined> {
    const { clock, ended } = this.dependencies;
    const isMet = typeof condition === 'string' ? (conditionOf(condition) as WaitCondition<T>) : condition;
    const named = await this.names.objectOf(name, ended);
    const over = new LinkedAbort(ended, ...(signal ? [signal] : []));
    const wait = new LinkedAbort(over.signal);
    const late = new ShutdownError('the wait is over');
    const timer = clock.setTimeout(() => wait.abort(late), timeoutMs);
    const seen: Seen<T> = { any: false };
    try {
      return await this.firstState(named, isMet, seen, wait.signal);
    } catch (error) {
      if (error !== late) throw error;
      if (!seen.any) {
        seen.last = await this.look<T>(named, over.signal);
        if (isMet(seen.last)) return seen.last;
      }
      const what = typeof condition === 'string' ? condition : condition.name || 'the condition';
      const told = `${named.type.kind} ${keyOf(named.ref)}: waited ${timeoutMs} ms for ${what}`;
      throw new TimeoutError(`${told}; ${describeState(seen.last)}`);
    } finally {
      timer.cancel();
      wait.close();
      over.close();
    }
  }

  /** By a read: on a busy machine the timeout may pass before a watch has shown anything. */
  private async look<T extends KubernetesObject>(
    { ref, type }: NamedObject,
    signal: AbortSignal,
  ): Promise<DeepReadonly<T> | undefined> {
    const object = await unlessGone(this.dependencies.client.get<T>(type, ref, { signal }));
    return object as DeepReadonly<T> | undefined;
  }

  private async firstState<T extends KubernetesObject>(
    { ref, type }: NamedObject,
    isMet: WaitCondition<T>,
    seen: Seen<T>,
    signal: AbortSignal,
  ): Promise<DeepReadonly<T> | undefined> {
    const { client, clock, logger, random } = this.dependencies;
    const informer = new SharedInformer<T>({
      type,
      client,
      clock,
      random,
      logger,
      ...(ref.namespace === undefined ? {} : { namespaces: [ref.namespace] }),
      fieldSelector: `metadata.name=${ref.name}`,
      trim: (object) => object,
    });
    const over = new AbortController();
    const stop = new LinkedAbort(signal, over.signal);
    try {
      const met = new Promise<DeepReadonly<T> | undefined>((resolve, reject) => {
        const look = (object: DeepReadonly<T> | undefined): void => {
          try {
            seen.any = true;
            seen.last = object;
            if (isMet(object)) resolve(object);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        informer.addEventHandler((event) => look(event.type === 'deleted' ? undefined : event.object));
        informer.run(stop.signal).catch(reject);
        // No event reports an object that does not exist.
        informer.waitForSync(stop.signal).then(
          () => informer.lister.list().length === 0 && look(undefined),
          () => undefined,
        );
      });
      return await abortable(met, signal);
    } finally {
      over.abort(new ShutdownError('the wait has ended'));
      stop.close();
    }
  }
}

import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client';
import type { ReconcileResult } from '../controller/index.js';
import type { Kind } from './kinds.js';

type Step<T> = (object: DeepReadonly<T>) => Promise<ReconcileResult | void>;

export interface FinalizerSteps<T extends KubernetesObject> {
  /** `domain/name`: `example.com/bucket`. */
  readonly name: string;
  /** The object lives: bring about what it asks for. Only ever called while the finalizer is on the object. */
  readonly apply: Step<T>;
  /**
   * The object is being deleted: take away what `apply` made. Called again until it succeeds, so it must not mind that
   * everything is gone already; also called where `apply` never was, or failed half-way.
   */
  readonly cleanup: Step<T>;
}

/**
 * Runs the step that the object's state asks for, with the guarantees of kube-rs's `finalizer`:
 *
 * - `apply` begins only when the finalizer is stored, so nothing is made that nobody would clean up;
 * - the object stays until `cleanup` has succeeded once, and `cleanup` is called until then;
 * - after `cleanup` has succeeded, neither is called again for this object (a new one of the same name is another);
 * - an object that is being deleted without our finalizer is none of our business: nothing is called.
 *
 * Finalizers of others are kept: each write carries the state that it was decided on, and loses against a newer one (409, tried
 * again by the queue). `cleanup` that asks for a requeue keeps the finalizer: it is not done yet.
 * @throws InvalidOptionError for a name without a domain, which the API refuses
 */
export async function withFinalizer<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  object: DeepReadonly<T>,
  { apply, cleanup, name }: FinalizerSteps<T>,
): Promise<ReconcileResult> {
  if (!/^[a-z0-9.-]+\/[A-Za-z0-9._-]+$/.test(name))
    throw new InvalidOptionError('finalizer.name', `"${name}" is not of the form domain/name`);
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const isOurs = finalizers.includes(name);
  if (deletionTimestamp === undefined) {
    const stored = isOurs ? object : await storeFinalizers(client, kind, object, [...finalizers, name]);
    return (await apply(stored)) ?? {};
  }
  if (!isOurs) return {};
  const result = (await cleanup(object)) ?? {};
  if (result.requeueAfterMs !== undefined) return result;
  const others = finalizers.filter((finalizer) => finalizer !== name);
  await storeFinalizers(client, kind, object, others).catch((error: unknown) => {
    // Somebody was quicker, and it went with that.
    if (!isNotFound(error)) throw error;
  });
  return {};
}

/** Against the state that was looked at: neither the finalizers of others nor another object of that name may suffer. */
async function storeFinalizers<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  { metadata }: DeepReadonly<T>,
  finalizers: readonly string[],
): Promise<DeepReadonly<T>> {
  const { resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return (await client.patch<T>(kind, metadata, { type: 'merge', body })) as DeepReadonly<T>;
}

import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, Kind } from '@rollkeeper/machinery/kubernetes';
import { readOnly } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client';
import type { ReconcileResult } from '../../controller/index.js';

type Step<T> = (object: DeepReadonly<T>) => Promise<ReconcileResult | void>;

/** The steps of {@link withFinalizer}. */
export interface FinalizerSteps<T extends KubernetesObject> {
  /** `domain/name`: `example.com/bucket`. */
  readonly name: string;
  /** Called while the object exists and carries the finalizer: creates what it asks for. */
  readonly apply: Step<T>;
  /**
   * Called while the object is being deleted: removes what `apply` created. Called again until it succeeds, so it must
   * accept that everything was already removed. Also called if `apply` never ran, or failed half-way.
   */
  readonly cleanup: Step<T>;
}

/**
 * Runs the step for the object's state, with the guarantees of kube-rs's `finalizer`:
 *
 * - `apply` runs only after the finalizer is stored, so nothing is created without a later clean-up;
 * - the object stays until `cleanup` has succeeded once, and `cleanup` is called until then;
 * - after `cleanup` has succeeded, neither is called again for this object (a new one of the same name is another);
 * - for an object being deleted without our finalizer, nothing is called.
 *
 * Finalizers of others are kept: each write carries the state that it was decided on, and fails against a newer one
 * (409, retried by the queue). A `cleanup` that requests a requeue keeps the finalizer: it is not done yet.
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
    // The object no longer exists.
    if (!isNotFound(error)) throw error;
  });
  return {};
}

/** With a precondition on the observed state, to protect others' finalizers and a new object of that name. */
async function storeFinalizers<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  { metadata }: DeepReadonly<T>,
  finalizers: readonly string[],
): Promise<DeepReadonly<T>> {
  const { resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return readOnly(await client.patch<T>(kind, metadata, { type: 'merge', body }));
}

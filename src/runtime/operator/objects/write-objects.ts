import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, ObjectRef, Kind } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isConflict, unlessGone } from '@rollkeeper/client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom, jitter } from '@rollkeeper/machinery/clock';
import { typeMeta } from '../kinds/kinds.js';
import { setControllerReference } from './owners.js';

/** The result of {@link createOrUpdate}. */
export interface WrittenObject<T> {
  readonly object: T;
  readonly did: 'created' | 'updated' | 'nothing';
}

/**
 * Brings one object to the state that `mutate` gives it: reads it (from the server, because caches may omit fields),
 * creates it if it is missing, updates it if `mutate` changed something, and writes nothing otherwise. An update fails
 * against a newer state (409, retried by the queue).
 * @param mutate changes the object in place: sets your fields, and leaves others, which other clients may have set. Not
 *   `status`, which has {@link updateStatus}
 */
export async function createOrUpdate<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  ref: ObjectRef,
  mutate: (object: T) => void | Promise<void>,
): Promise<WrittenObject<T>> {
  const { name, namespace } = ref;
  const current = await unlessGone(client.get<T>(kind, { name, namespace }));
  const next = current ? cloneJson(current) : (emptyObject(kind, ref) as T);
  await mutate(next);
  if (next.metadata.name !== name || next.metadata.namespace !== namespace)
    throw new InvalidOptionError('metadata', 'mutate must change neither name nor namespace');
  if (!current) return { object: await client.create(kind, next), did: 'created' };
  if (sameJson(current, next)) return { object: current, did: 'nothing' };
  return { object: await client.update(kind, next), did: 'updated' };
}

/** The options of {@link serverSideApply}. */
export interface ApplyOptions {
  /**
   * Controls the object: it is deleted with its owner, and wakes it. Of the same namespace, or of none. @default the
   * owners that `object` names
   */
  readonly owner?: DeepReadonly<KubernetesObject>;
  /** The owner of these fields; must never change, because fields that it no longer applies are removed. */
  readonly fieldManager: string;
  /**
   * Takes over fields of other managers instead of failing with 409. Controllers should; people should not. @default
   * true
   */
  readonly force?: boolean;
  /** `status`, for example. */
  readonly subresource?: string;
}

/** A partial object: fields that are absent are left alone. */
export type Part<T> = T extends readonly (infer Item)[]
  ? readonly Part<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]?: Part<T[Field]> }
    : T;

/** The object for {@link serverSideApply}: its name, and the fields to own. */
export type ApplyObject<T extends KubernetesObject> = Omit<Part<T>, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly metadata: ObjectRef & Part<Omit<KubernetesObject['metadata'], 'name' | 'namespace'>>;
};

/**
 * Server-side apply: `object` holds all the fields that `fieldManager` wants to own, and no others. Creates a missing
 * object; removes fields that it applied before and no longer names.
 */
export function serverSideApply<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  object: ApplyObject<T>,
  { fieldManager, force = true, owner, subresource }: ApplyOptions,
): Promise<T> {
  const applied = { ...typeMeta(kind), ...object };
  const body = owner ? withController(owner, applied as KubernetesObject) : applied;
  return client.patch<T>(
    kind,
    object.metadata,
    { type: 'apply', body },
    { fieldManager, force, subresource },
  );
}

/** @throws InvalidOptionError for an owner in another namespace */
function withController(owner: DeepReadonly<KubernetesObject>, applied: KubernetesObject): KubernetesObject {
  const object = { ...applied, metadata: { ...applied.metadata } };
  setControllerReference(owner, object);
  return object;
}

/**
 * Merges these fields into the status of an object, through its subresource, and leaves all others; null removes one. For
 * controllers that share a status. {@link updateStatus} writes a whole one, and only what was seen.
 */
export function patchStatus<T extends KubernetesObject & { status?: object }>(
  client: ApiClient,
  kind: Kind<T>,
  { name, namespace }: ObjectRef,
  status: {
    readonly [Field in keyof NonNullable<T['status']>]?: Part<NonNullable<T['status']>[Field]> | null;
  },
): Promise<T> {
  return client.patch<T>(
    kind,
    { name, namespace },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
}

/** The options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions {
  /** Attempts altogether. @default 5 */
  readonly attempts?: number;
  /** Before each further one, milliseconds, a tenth more at most. @default 10 */
  readonly pauseMs?: number;
  readonly signal?: AbortSignal;
  /** @default the system's */
  readonly clock?: Pick<Clock, 'sleep'>;
  /** @default the system's */
  readonly random?: RandomSource;
}

const NEVER = new AbortController().signal;

/**
 * Runs `work`, which reads an object and writes it, again where the write meets another one (409): client-go's
 * `RetryOnConflict`. In a sync, let the conflict pass: the queue comes back with newer caches.
 */
export async function retryOnConflict<R>(
  work: () => Promise<R>,
  {
    attempts = 5,
    clock = new SystemClock(),
    pauseMs = 10,
    random = new SystemRandom(),
    signal = NEVER,
  }: RetryOnConflictOptions = {},
): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || attempt >= attempts) throw error;
      await clock.sleep(jitter(pauseMs, 0.1, random), signal);
    }
  }
}

/**
 * Writes `status` through its subresource, and only if it differs from the one in `object`. Fails against a newer state
 * (409, retried by the queue).
 */
export async function updateStatus<T extends KubernetesObject & { status?: object }>(
  client: ApiClient,
  kind: Kind<T>,
  object: DeepReadonly<T>,
  status: DeepReadonly<NonNullable<T['status']>>,
): Promise<void> {
  const { metadata, status: before = {} } = object;
  const patch = mergePatchFrom(before, status);
  if (Object.keys(patch).length === 0) return;
  const { resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion }, status: patch };
  await client.patch<T>(kind, metadata, { type: 'merge', body }, { subresource: 'status' });
}

/** The JSON merge patch (RFC 7386) from `before` to `after`. */
function mergePatchFrom(before: object, after: object): Record<string, unknown> {
  const [old, next]: readonly [Record<string, unknown>, Record<string, unknown>] = [
    { ...before },
    { ...after },
  ];
  const patch: Record<string, unknown> = {};
  for (const field of Object.keys(old)) if (next[field] === undefined) patch[field] = null;
  for (const [field, value] of Object.entries(next)) {
    if (value === undefined || sameJson(old[field], value)) continue;
    patch[field] =
      isJsonObject(old[field]) && isJsonObject(value) ? mergePatchFrom(old[field], value) : value;
  }
  return patch;
}

function emptyObject(kind: Kind, { name, namespace }: ObjectRef): KubernetesObject {
  return { ...typeMeta(kind), metadata: namespace === undefined ? { name } : { name, namespace } };
}

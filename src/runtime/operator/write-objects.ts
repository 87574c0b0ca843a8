import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { Kind } from './kinds.js';
import { typeMeta } from './kinds.js';

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

export interface ApplyOptions {
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
  { fieldManager, force = true, subresource }: ApplyOptions,
): Promise<T> {
  const body = { ...typeMeta(kind), ...object };
  return client.patch<T>(
    kind,
    object.metadata,
    { type: 'apply', body },
    { fieldManager, force, subresource },
  );
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
  const { metadata, status: before = {} } = object as DeepReadonly<KubernetesObject> & { status?: object };
  const patch = mergePatchFrom(before, status);
  if (Object.keys(patch).length === 0) return;
  const { resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion }, status: patch };
  await client.patch<T>(kind, metadata, { type: 'merge', body }, { subresource: 'status' });
}

/** The JSON merge patch (RFC 7386) from `before` to `after`. */
function mergePatchFrom(before: object, after: object): Record<string, unknown> {
  const [old, next] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const patch: Record<string, unknown> = {};
  for (const field of Object.keys(old)) if (next[field] === undefined) patch[field] = null;
  for (const [field, value] of Object.entries(next)) {
    if (value === undefined || sameJson(old[field], value)) continue;
    patch[field] = isPlain(old[field]) && isPlain(value) ? mergePatchFrom(old[field], value) : value;
  }
  return patch;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function emptyObject(kind: Kind, { name, namespace }: ObjectRef): KubernetesObject {
  return { ...typeMeta(kind), metadata: namespace === undefined ? { name } : { name, namespace } };
}

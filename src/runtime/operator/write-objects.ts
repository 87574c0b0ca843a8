import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { Kind } from './kinds.js';
import { typeMeta } from './kinds.js';

/** What {@link createOrUpdate} did. */
export interface WrittenObject<T> {
  readonly object: T;
  readonly did: 'created' | 'updated' | 'nothing';
}

/**
 * Brings one object to the state that `mutate` gives it: reads it (afresh, for caches may leave fields out), creates it where
 * there is none, updates it where `mutate` changed something, and writes nothing otherwise. An update loses against a
 * newer state (409, tried again by the queue).
 * @param mutate changes the object in place: sets what is yours, and leaves the rest, which others may have set. Not `status`,
 *   which has {@link updateStatus}
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
  /** Whose fields these are; the same word for ever, for what it no longer names is taken away. */
  readonly fieldManager: string;
  /** Takes fields over from other managers in place of a 409. Controllers do; people should not. @default true */
  readonly force?: boolean;
  /** `status`, for example. */
  readonly subresource?: string;
}

/** A part of an object: what is not named is nobody's business. */
export type Part<T> = T extends readonly (infer Item)[]
  ? readonly Part<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]?: Part<T[Field]> }
    : T;

/** What {@link serverSideApply} is given: the name, and the fields that one wants to have a say in. */
export type ApplyObject<T extends KubernetesObject> = Omit<Part<T>, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly metadata: ObjectRef & Part<Omit<KubernetesObject['metadata'], 'name' | 'namespace'>>;
};

/**
 * Server-side apply: `object` holds all the fields that `fieldManager` wants to have a say in, and no others. Creates what is not
 * there; takes away the fields that it applied before and no longer names.
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
 * Writes `status` through its subresource, and only where it differs from what `object` shows.
 * Loses against a newer state (409, tried again by the queue).
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

/** The JSON merge patch (RFC 7386) that makes `after` of `before`. */
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

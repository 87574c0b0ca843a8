import type { ApiClient } from '@rollkeeper/runtime';
import { isConflict, isNotFound } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  KubernetesObject,
  OwnerReference,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { toError } from '@rollkeeper/machinery/errors';
import type { CollectionPlan } from './decide-collection.js';
import type { GraphNode } from './ownership-index.js';

type Item = DeepReadonly<KubernetesObject>;

/** Concurrent writes to dependents of one owner. */
const ORPHANING_AT_ONCE = 10;
/** Attempts to reread a dependent that other clients keep writing to. */
const ORPHANING_ATTEMPTS = 4;

/**
 * Executes the decision about one object. Every write names the UID and the resourceVersion of the decision, so that an object
 * adopted in the meantime is not deleted.
 * @throws ApiStatusError, a conflict if the object changed: read it again and decide again
 */
export async function applyCollection(
  type: ResourceType,
  object: Item,
  plan: Exclude<CollectionPlan, { action: 'keep' }>,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const references = object.metadata.ownerReferences ?? [];
  if (plan.action === 'drop-references') {
    const dropped = new Set(plan.uids);
    const kept = references.filter(({ uid }) => !dropped.has(uid));
    await patchMetadata(type, object, { ownerReferences: kept }, client, signal);
    return;
  }
  let { resourceVersion } = object.metadata;
  if (plan.unblockOwners) {
    const unblocking = references.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
    const written = await patchMetadata(type, object, { ownerReferences: unblocking }, client, signal);
    resourceVersion = written.metadata.resourceVersion;
  }
  await client.delete(type, object.metadata, {
    preconditions: { uid: object.metadata.uid, resourceVersion },
    propagationPolicy: plan.policy,
    signal,
  });
}

/** Releases an owner that is being deleted by removing our finalizer. */
export async function removeFinalizer(
  type: ResourceType,
  object: Item,
  finalizer: string,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const kept = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  await patchMetadata(type, object, { finalizers: kept }, client, signal);
}

/** Removes `owner` from the owners of every dependent; one failure does not affect the others. */
export async function orphanDependents(
  owner: Item,
  dependents: readonly GraphNode[],
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...dependents];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      try {
        await orphan(next, owner.metadata.uid, client, signal);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(ORPHANING_AT_ONCE, waiting.length) }, work));
  signal.throwIfAborted();
  if (failures.length === 1) throw toError(failures[0]);
  if (failures.length > 1) {
    throw new AggregateError(failures, `${failures.length} dependents could not be orphaned`);
  }
}

async function orphan(
  { type, object: cached }: GraphNode,
  ownerUid: string | undefined,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  let object: Item = cached;
  for (let attempt = 1; ; attempt++) {
    const references = object.metadata.ownerReferences ?? [];
    const kept = references.filter(({ uid }) => uid !== ownerUid);
    if (kept.length === references.length) return;
    try {
      await patchMetadata(type, object, { ownerReferences: kept }, client, signal);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === ORPHANING_ATTEMPTS) throw error;
    }
    try {
      const live = await client.get(type, object.metadata, { signal, metadataOnly: true });
      if (live.metadata.uid !== cached.metadata.uid) return;
      object = live;
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
  }
}

/** A merge patch replaces the whole list, so it has a precondition on the state that the list was made from. */
function patchMetadata(
  type: ResourceType,
  { metadata: { namespace, name, uid, resourceVersion } }: Item,
  metadata: { ownerReferences?: readonly DeepReadonly<OwnerReference>[]; finalizers?: readonly string[] },
  client: ApiClient,
  signal: AbortSignal,
): Promise<KubernetesObject> {
  const body = { metadata: { uid, resourceVersion, ...metadata } };
  return client.patch(type, { namespace, name }, { type: 'merge', body }, { signal, metadataOnly: true });
}

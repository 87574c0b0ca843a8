import type { ApiClient, DiscoveredResource, DiscoveredResources } from '@rollkeeper/runtime';
import { ApiStatusError, isConflict, isNotFound, listAll } from '@rollkeeper/runtime';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ContentReport } from './content-conditions.js';
import { decideDeletionWaves } from './decide-content.js';

/** Concurrent types. */
const TYPES_AT_ONCE = 8;
/** Concurrent deletions for a type without deletecollection. */
const DELETIONS_AT_ONCE = 16;

export interface DeletedContent extends ContentReport {
  /** The remaining objects, metadata only, after their deletion was requested. */
  readonly objects: readonly KubernetesObject[];
  /** Number of objects whose deletion was requested in this pass; the others were requested before. */
  readonly asked: number;
}

/**
 * Requests the deletion of everything in a namespace. Pods go first; while some are left nothing else is touched. A
 * type that fails is reported and does not affect others. Costs one list per type, and two more requests if there are
 * objects.
 */
export async function deleteContent(
  namespace: string,
  discovered: DiscoveredResources,
  client: ApiClient,
  signal: AbortSignal,
): Promise<DeletedContent> {
  const objects: KubernetesObject[] = [];
  const remaining = new Map<string, number>();
  const deletionFailures: string[] = [];
  let asked = 0;
  for (const wave of decideDeletionWaves(discovered.resources)) {
    const limit = new ConcurrencyLimit(TYPES_AT_ONCE);
    const emptied = wave.map((type) => limit.run(() => tryToEmpty(type, namespace, client, signal)));
    for (const { failure, left, toldToGo, type } of await Promise.all(emptied)) {
      asked += toldToGo;
      if (left.length > 0) remaining.set(resourceText(type), left.length);
      objects.push(...left);
      if (failure) deletionFailures.push(failure);
    }
    signal.throwIfAborted();
    if (objects.length > 0) break;
  }
  return {
    objects,
    asked,
    remaining,
    deletionFailures,
    finalizers: countFinalizers(objects),
    discoveryFailures: discovered.failedGroups.map(
      ({ groupVersion, error }) => `${groupVersion}: ${errorMessage(error)}`,
    ),
  };
}

interface Emptied {
  readonly type: ResourceType;
  /** Objects that stay for a while. */
  readonly left: readonly KubernetesObject[];
  /** Number of requested deletions. */
  readonly toldToGo: number;
  /** In Kubernetes' words. */
  readonly failure?: string;
}

async function tryToEmpty(
  type: DiscoveredResource,
  namespace: string,
  client: ApiClient,
  signal: AbortSignal,
): Promise<Emptied> {
  try {
    return await empty(type, namespace, client, signal);
  } catch (error) {
    // The type is no longer served: nothing can be left of it.
    if (isNotFound(error)) return { type, left: [], toldToGo: 0 };
    const failure = `${apiVersionOf(type)}, Resource=${type.resource}: ${errorMessage(error)}`;
    return { type, left: [], toldToGo: 0, failure };
  }
}

/**
 * Lists, deletes what is not being deleted yet, and lists again. Repeating a request would not change an object being
 * deleted.
 */
async function empty(
  type: DiscoveredResource,
  namespace: string,
  client: ApiClient,
  signal: AbortSignal,
): Promise<Emptied> {
  const found = await listAll(client, type, { namespace, metadataOnly: true, signal });
  const staying = found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (staying.length === 0) return { type, left: found, toldToGo: 0 };
  const isDeleted =
    type.verbs.includes('deletecollection') && (await deleteCollection(type, namespace, client, signal));
  if (!isDeleted) await deleteEach(type, staying, client, signal);
  const left = await listAll(client, type, { namespace, metadataOnly: true, signal });
  return { type, left, toldToGo: staying.length };
}

/** Whether the server supports deletecollection for the type, regardless of its discovery. */
async function deleteCollection(
  type: ResourceType,
  namespace: string,
  client: ApiClient,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.deleteCollection(type, { namespace, propagationPolicy: 'Background', signal });
    return true;
  } catch (error) {
    // With very many objects the server deletes some and times out: the list shows the rest.
    if (isTimeout(error)) return true;
    // Source: `deleteCollection` in k/k pkg/controller/namespace/deletion treats both as "not supported".
    if (isMethodNotAllowed(error) || isNotFound(error)) return false;
    throw error;
  }
}

function isTimeout(error: unknown): boolean {
  return hasCode(error, 'TIMEOUT') || (error instanceof ApiStatusError && error.code === 504);
}

function isMethodNotAllowed(error: unknown): boolean {
  return error instanceof ApiStatusError && error.code === 405;
}

async function deleteEach(
  type: ResourceType,
  objects: readonly KubernetesObject[],
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const limit = new ConcurrencyLimit(DELETIONS_AT_ONCE);
  const deletions = objects.map((object) => limit.run(() => deleteOne(type, object, client, signal)));
  const failures = (await Promise.allSettled(deletions)).flatMap((outcome): unknown[] =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  );
  signal.throwIfAborted();
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} objects: ${errorMessage(failures[0])}`);
}

async function deleteOne(
  type: ResourceType,
  { metadata: { name, namespace, uid } }: KubernetesObject,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const options = { preconditions: { uid }, propagationPolicy: 'Background', signal } as const;
  try {
    await client.delete(type, { namespace, name }, options);
  } catch (error) {
    // Deleted, or recreated: the following list shows it.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

function countFinalizers(objects: readonly KubernetesObject[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of objects) {
    for (const finalizer of metadata.finalizers ?? [])
      counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  return counts;
}

/** As Kubernetes writes it, with a trailing dot for a core resource. */
function resourceText(type: ResourceType): string {
  return type.group === '' ? `${type.resource}.` : qualifiedResource(type);
}

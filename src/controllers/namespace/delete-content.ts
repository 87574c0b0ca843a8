import type { ApiClient, DiscoveredResources } from '../../api-client/index.js';
import { isConflict, isNotFound } from '../../api-client/index.js';
import { errorMessage } from '../../errors/index.js';
import type { KubernetesObject, ResourceType } from '../../kubernetes/index.js';
import { apiVersionOf, qualifiedResource } from '../../kubernetes/index.js';
import type { ContentReport } from './content-conditions.js';
import { decideDeletionWaves } from './decide-content.js';

/** Deletions on their way at once, over all types. */
const DELETIONS_AT_ONCE = 16;
const PAGE_SIZE = 500;

export interface DeletedContent extends ContentReport {
  /** What is still there after the pass, each object as its deletion left it. */
  readonly objects: readonly KubernetesObject[];
  /** How many were asked to go in this pass; those left that are not among them were asked before. */
  readonly asked: number;
}

/**
 * Asks for the deletion of everything in a namespace. Pods go first; while some are left nothing else is touched. A
 * type that fails is reported and takes nothing else with it.
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
  const tally = { asked: 0 };
  for (const wave of decideDeletionWaves(discovered.resources)) {
    for (const type of wave) {
      try {
        const left = await deleteAllOf(type, namespace, tally, client, signal);
        if (left.length > 0) remaining.set(resourceText(type), left.length);
        objects.push(...left);
      } catch (error) {
        signal.throwIfAborted();
        deletionFailures.push(`${apiVersionOf(type)}, Resource=${type.resource}: ${errorMessage(error)}`);
      }
    }
    if (objects.length > 0) break;
  }
  return {
    objects,
    asked: tally.asked,
    remaining,
    deletionFailures,
    finalizers: countFinalizers(objects),
    discoveryFailures: discovered.failedGroups.map(
      ({ groupVersion, error }) => `${groupVersion}: ${errorMessage(error)}`,
    ),
  };
}

/** Deletes every object of one type; returns those that stay for a while. */
async function deleteAllOf(
  type: ResourceType,
  namespace: string,
  tally: { asked: number },
  client: ApiClient,
  signal: AbortSignal,
): Promise<KubernetesObject[]> {
  const waiting = await listAll(type, namespace, client, signal);
  const left: KubernetesObject[] = [];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      // Asking again would change nothing about an object that is on its way out.
      if (next.metadata.deletionTimestamp !== undefined) {
        left.push(next);
        continue;
      }
      tally.asked++;
      try {
        const stays = await deleteOne(type, next, client, signal);
        if (stays) left.push(stays);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(DELETIONS_AT_ONCE, waiting.length) }, work));
  signal.throwIfAborted();
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} objects: ${errorMessage(failures[0])}`);
  }
  return left;
}

async function listAll(
  type: ResourceType,
  namespace: string,
  client: ApiClient,
  signal: AbortSignal,
): Promise<KubernetesObject[]> {
  const all: KubernetesObject[] = [];
  let continueToken: string | undefined;
  do {
    const page = await client.list(type, { namespace, limit: PAGE_SIZE, continueToken, signal });
    all.push(...page.items);
    continueToken = page.continueToken;
  } while (continueToken);
  return all;
}

async function deleteOne(
  type: ResourceType,
  object: KubernetesObject,
  client: ApiClient,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const { name, uid } = object.metadata;
  try {
    const result = await client.delete(
      type,
      { namespace: object.metadata.namespace, name },
      { preconditions: { uid }, propagationPolicy: 'Background', signal },
    );
    return result.object && stays(result.object, uid) ? result.object : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    // Deleted and created again: the next pass sees the new one.
    if (isConflict(error)) return object;
    throw error;
  }
}

/** Servers may also answer with the last state of what is already gone. */
function stays(object: KubernetesObject, uid: string | undefined): boolean {
  return object.metadata.uid === uid && object.metadata.deletionTimestamp !== undefined;
}

function countFinalizers(objects: readonly KubernetesObject[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of objects) {
    for (const finalizer of metadata.finalizers ?? [])
      counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  return counts;
}

/** As Kubernetes writes it, with the point after a core resource too. */
function resourceText(type: ResourceType): string {
  return type.group === '' ? `${type.resource}.` : qualifiedResource(type);
}

import type { ApiClient, DiscoveredResource } from '@rollkeeper/client/api-client';
import { apiStatusOf, listAll } from '@rollkeeper/client/api-client';
import { parseTimeMs } from '@rollkeeper/controllers/shared';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { conclude } from './conclude.js';
import type { Diagnosis } from './diagnosis.js';
import { deletionFindings } from './findings.js';

/** Lists that are asked for at once. */
const AT_ONCE = 6;
/** A controller that runs removes its finalizer sooner. */
const IS_HELD_AFTER_MS = 10_000;
/** How long a refused list is not asked for again, milliseconds: rights change seldom, and each refusal is in an audit log. */
const REFUSED_MS = 600_000;

interface DeletingOptions {
  readonly namespace?: string | undefined;
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
  /** See `FindProblemsOptions`. @default each list is asked for */
  readonly refused?: Map<string, number> | undefined;
  /** Kinds that are diagnosed by themselves. */
  readonly except: readonly ResourceType[];
}

/**
 * Objects of every other kind that the API server has, also of custom ones, that are being deleted and that a finalizer holds.
 * Reads metadata alone. What may not be listed is left out.
 * @throws what the API answers, but for errors of single lists
 */
export async function findHeldObjects(
  client: Pick<ApiClient, 'discover' | 'list'>,
  { except, namespace, nowMs, refused = new Map(), signal }: DeletingOptions,
): Promise<readonly Diagnosis[]> {
  const known = new Set([...except.map(qualifiedResource), 'events', 'events.events.k8s.io']);
  const { resources } = await client.discover(signal && { signal });
  const types = resources.filter(
    (type) =>
      type.verbs.includes('list') &&
      type.verbs.includes('delete') &&
      !known.has(qualifiedResource(type)) &&
      (refused.get(refusalKey(type, namespace)) ?? 0) <= nowMs &&
      (namespace === undefined || type.namespaced),
  );
  const limit = new ConcurrencyLimit(AT_ONCE);
  const lists = await Promise.all(
    types.map((type) =>
      limit.run(async () => {
        const objects = await readable(client, type, namespace, signal);
        if (!objects) refused.set(refusalKey(type, namespace), nowMs + REFUSED_MS);
        return heldOf(type, objects ?? [], nowMs);
      }),
    ),
  );
  return lists.flat();
}

function refusalKey(type: ResourceType, namespace = ''): string {
  return `${qualifiedResource(type)}/${namespace}`;
}

/** Undefined: the list was refused, or is not served. */
async function readable(
  client: Pick<ApiClient, 'list'>,
  type: DiscoveredResource,
  namespace: string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly KubernetesObject[] | undefined> {
  try {
    return await listAll<KubernetesObject>(client, type, {
      ...(namespace !== undefined && { namespace }),
      metadataOnly: true,
      ...(signal && { signal }),
    });
  } catch (error) {
    // Forbidden, no longer served, or of another server that does not answer, which is a problem of its APIService.
    if (apiStatusOf(error) === undefined) throw error;
    return undefined;
  }
}

function heldOf(
  type: ResourceType,
  objects: readonly KubernetesObject[],
  nowMs: number,
): readonly Diagnosis[] {
  return objects.flatMap((object) => {
    const sinceMs = parseTimeMs(object.metadata.deletionTimestamp);
    if (sinceMs === undefined || nowMs - sinceMs < IS_HELD_AFTER_MS) return [];
    const findings = deletionFindings(object).filter(({ severity }) => severity === 'blocked');
    const good = { state: 'healthy', sentence: 'it exists' } as const;
    return findings.length === 0 ? [] : [conclude(type, object, { findings, good, bad: 'deleting' })];
  });
}

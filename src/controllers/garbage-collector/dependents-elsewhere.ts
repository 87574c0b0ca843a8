import type { ApiClient } from '@rollkeeper/runtime';
import { ApiStatusError, isNotFound } from '@rollkeeper/runtime';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { decideNeed } from './decide-collection.js';
import { blocksOwner } from './decide-collection.js';
import { isDependentOf } from './dependency-graph.js';
import type { ResourceMonitors } from './resource-monitors.js';
import type { GraphNode } from './ownership-index.js';

const PAGE_SIZE = 500;
/** So many blocking dependents of an owner are remembered. When they are gone, the next ones are looked for. */
const REMEMBERED_BLOCKERS = 100;
/** So many owners that wait are remembered. A forgotten one costs one more look. */
const REMEMBERED_OWNERS = 1000;

/**
 * The dependents of owners without a namespace, as the server has them in all namespaces. With slots no replica caches all of them,
 * and the finalizer of such an owner must not go before the last one. To look costs a list of the metadata of every kind that has a
 * namespace, so it is done only for owners that wait for dependents or orphan them, which is rare.
 */
export class DependentsElsewhere {
  private readonly blockers = new Map<string, GraphNode[]>();

  constructor(private readonly monitors: Pick<ResourceMonitors, 'namespacedTypes'>) {}

  /**
   * Finds the dependents. A kind that may not be listed, or does not exist any more, has none, as for the collector's caches.
   * @throws ApiStatusError for other answers: without a list nothing is known
   */
  private async *find(owner: GraphNode, client: ApiClient, signal: AbortSignal): AsyncGenerator<GraphNode> {
    for (const type of this.monitors.namespacedTypes) {
      try {
        for await (const object of everyObject(type, client, signal))
          if (isDependentOf(object, owner)) yield { type, object };
      } catch (error) {
        if (!isRefused(error)) throw error;
      }
    }
  }

  /**
   * The dependents that a decision needs.
   * @throws as {@link find}
   */
  async of(
    owner: GraphNode,
    need: ReturnType<typeof decideNeed>,
    client: ApiClient,
    signal: AbortSignal,
  ): Promise<readonly GraphNode[]> {
    if (need === 'none') return [];
    if (need === 'blocking') return this.blockersOf(owner, client, signal);
    const found: GraphNode[] = [];
    for await (const node of this.find(owner, client, signal)) found.push(node);
    return found;
  }

  /** Some of the dependents that block the deletion of an owner; empty if there are none. While a known one is there, that costs one GET. */
  private async blockersOf(
    owner: GraphNode,
    client: ApiClient,
    signal: AbortSignal,
  ): Promise<readonly GraphNode[]> {
    const { uid = '' } = owner.object.metadata;
    const known = this.blockers.get(uid) ?? [];
    for (let last = known.at(-1); last; last = known.at(-1)) {
      if (await isStillBlocking(last, uid, client, signal)) return known;
      known.pop();
    }
    this.blockers.delete(uid);
    const found: GraphNode[] = [];
    for await (const node of this.find(owner, client, signal)) {
      if (!blocksOwner(node.object, uid)) continue;
      found.push(node);
      if (found.length === REMEMBERED_BLOCKERS) break;
    }
    if (this.blockers.size >= REMEMBERED_OWNERS) this.blockers.clear();
    if (found.length > 0) this.blockers.set(uid, found);
    return found;
  }
}

async function* everyObject(
  type: ResourceType,
  client: ApiClient,
  signal: AbortSignal,
): AsyncGenerator<KubernetesObject> {
  let continueToken: string | undefined;
  do {
    const page = await client.list(type, { metadataOnly: true, limit: PAGE_SIZE, continueToken, signal });
    yield* page.items;
    ({ continueToken } = page);
  } while (continueToken !== undefined);
}

async function isStillBlocking(
  { object, type }: GraphNode,
  ownerUid: string,
  client: ApiClient,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const live = await client.get(type, object.metadata, { metadataOnly: true, signal });
    return live.metadata.uid === object.metadata.uid && blocksOwner(live, ownerUid);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

const REFUSALS: readonly number[] = [403, 404, 405];

function isRefused(error: unknown): boolean {
  return error instanceof ApiStatusError && REFUSALS.includes(error.code);
}

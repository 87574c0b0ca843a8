import type { DiscoveredResource, DiscoveredResources } from '@rollkeeper/runtime';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** Verbs that the collector needs for a type. Source: `GetDeletableResources`. */
const NEEDED_VERBS = ['delete', 'list', 'watch'];

/** The types to start and to stop watching. */
interface MonitorPlan {
  readonly start: readonly ResourceType[];
  readonly stop: readonly ResourceType[];
}

/**
 * Compares the watched types with the server's. Types of a group whose discovery fails are kept, and an empty answer
 * for everything is not trusted. A type whose preferred version has changed is restarted. Source:
 * `GarbageCollector.Sync` and `syncMonitors` in k/k pkg/controller/garbagecollector.
 * @param ignored by qualified resource
 */
export function decideMonitors(
  followed: readonly ResourceType[],
  { failedGroups, resources }: DiscoveredResources,
  ignored: ReadonlySet<string>,
): MonitorPlan {
  const wanted = new Map(
    resources
      .filter((resource) => isCollectable(resource) && !ignored.has(qualifiedResource(resource)))
      .map(({ verbs: _verbs, ...type }) => [qualifiedResource(type), type]),
  );
  if (resources.length === 0) return { start: [], stop: [] };
  const failed = new Set(failedGroups.map(({ groupVersion }) => groupVersion));
  const known = new Set<string>();
  const stop: ResourceType[] = [];
  for (const type of followed) {
    const name = qualifiedResource(type);
    const isKept = wanted.get(name)?.version === type.version || failed.has(apiVersionOf(type));
    if (isKept) known.add(name);
    else stop.push(type);
  }
  return { start: [...wanted.values()].filter((type) => !known.has(qualifiedResource(type))), stop };
}

function isCollectable({ verbs }: DiscoveredResource): boolean {
  return NEEDED_VERBS.every((verb) => verbs.includes(verb));
}

/**
 * `syncing`: the first list is in progress. `unreadable`: there is none, or the watch is refused; cached objects are
 * still used, and nothing waits for more.
 */
export type MonitorState = 'syncing' | 'synced' | 'unreadable';

interface MonitorFacts {
  readonly hasSynced: boolean;
  readonly trouble?: { readonly reason: string; readonly code?: number } | undefined;
  /** Time since its start, milliseconds. */
  readonly ageMs: number;
}

/**
 * Time after which nothing waits for a first list any more. Source: the garbage collector of kube-controller-manager
 * starts after 30 s, even if not everything has synced.
 */
export const LONGEST_FIRST_LIST_MS = 30_000;

/** Answers that another attempt does not change. */
const REFUSALS: readonly (number | undefined)[] = [403, 404, 405];

/**
 * The state of a shard. Shards come while others are in use, and the server may be busy with that: an answer that it cannot list now is
 * no reason to conclude that there is nothing. Nor is a list that only takes long, or waits for those of other kinds: each request has
 * a time limit, so a server that does not answer is trouble in the end.
 */
export function decideShardState({ ageMs, hasSynced, trouble }: MonitorFacts): MonitorState {
  if (REFUSALS.includes(trouble?.code)) return 'unreadable';
  if (hasSynced) return 'synced';
  return trouble && ageMs >= LONGEST_FIRST_LIST_MS ? 'unreadable' : 'syncing';
}

export function decideMonitorState({ ageMs, hasSynced, trouble }: MonitorFacts): MonitorState {
  if (trouble?.code !== undefined) return 'unreadable';
  if (hasSynced) return 'synced';
  return ageMs >= LONGEST_FIRST_LIST_MS ? 'unreadable' : 'syncing';
}

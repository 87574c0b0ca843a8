import type { DiscoveredResource, DiscoveredResources } from '@rollkeeper/runtime';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** What the collector has to be able to do with a type. Source: `GetDeletableResources`. */
const NEEDED_VERBS = ['delete', 'list', 'watch'];

/** Which types are to be followed from now on, and which no more. */
export interface MonitorPlan {
  readonly start: readonly ResourceType[];
  readonly stop: readonly ResourceType[];
}

/**
 * From what is followed to what the server has. What a group has that cannot be asked at the moment is kept, and where the
 * server claims to have nothing at all it is not believed. A type whose preferred version has changed is started anew.
 * Source: `GarbageCollector.Sync` and `syncMonitors` in k/k pkg/controller/garbagecollector.
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
 * `syncing`: the first list is under way. `unreadable`: there is none, or the watch is refused; what was cached before is
 * still used, and nothing waits for more.
 */
export type MonitorState = 'syncing' | 'synced' | 'unreadable';

export interface MonitorFacts {
  readonly hasSynced: boolean;
  readonly trouble?: { readonly reason: string; readonly code?: number };
  /** Since it was started. */
  readonly ageMs: number;
}

/**
 * How long a first list may take until nothing waits for it any more.
 * Source: the garbage collector of kube-controller-manager begins after 30 s whatever has synced.
 */
export const LONGEST_FIRST_LIST_MS = 30_000;

export function decideMonitorState({ ageMs, hasSynced, trouble }: MonitorFacts): MonitorState {
  if (trouble?.code !== undefined) return 'unreadable';
  if (hasSynced) return 'synced';
  return ageMs >= LONGEST_FIRST_LIST_MS ? 'unreadable' : 'syncing';
}

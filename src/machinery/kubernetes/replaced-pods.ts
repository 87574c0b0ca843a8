import type { DeepReadonly, KubernetesObject } from './objects.js';

/**
 * On a ReplicaSet: the UIDs of the ReplicaSets whose pods its own ones replace. The scheduler of Rollkeeper leaves those pods out of
 * its sums when it spreads pods of this ReplicaSet.
 */
export const REPLACES_PODS_OF = 'rollkeeper.dev/replaces-pods-of';

/** A rollout has few versions with pods, and users may write the annotation. */
const MOST_OWNERS = 20;

/** The value of {@link REPLACES_PODS_OF}. */
export function renderReplacedOwners(uids: readonly string[]): string {
  return uids.slice(0, MOST_OWNERS).join(',');
}

/** The UIDs in {@link REPLACES_PODS_OF}; none if the annotation is missing. */
export function replacedOwners(
  replicaSet: DeepReadonly<Pick<KubernetesObject, 'metadata'>> | undefined,
): readonly string[] {
  const text = replicaSet?.metadata.annotations?.[REPLACES_PODS_OF] ?? '';
  return text === '' ? [] : text.split(',', MOST_OWNERS);
}

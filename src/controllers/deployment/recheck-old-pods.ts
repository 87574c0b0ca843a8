import type { ApiClient } from '../../kit/index.js';
import { StaleCacheError } from '../../base/errors/index.js';
import type { DeepReadonly, Deployment, Pod } from '../../base/kubernetes/index.js';
import { PODS, controllerOf } from '../../base/kubernetes/index.js';
import { isPodFinished } from '../shared/index.js';
import type { RolloutDraft } from './draft.js';

/**
 * Asks the API itself, past the cache, whether the last old pod has ended before a Recreate starts the new version:
 * ReplicaSets and pods are watched apart, so a pod can exist that only its ReplicaSet's status has told us of so far.
 * One list per Recreate.
 * @throws StaleCacheError when one still runs: come back when the cache knows it too
 */
export async function recheckOldPods(
  draft: RolloutDraft,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const { startedByRecreate: started, observed } = draft;
  const others = draft.replicaSets.filter((replicaSet) => replicaSet !== started);
  const uids = new Set(others.map((replicaSet) => replicaSet.observed?.metadata.uid));
  if (!started || uids.size === 0) return;
  const { namespace, name } = observed.metadata;
  const labelSelector = equalities(observed);
  const { items } = await client.list<Pod>(PODS, { namespace, labelSelector, signal });
  const running = items.find((pod) => !isPodFinished(pod) && uids.has(controllerOf(pod)?.uid));
  if (running) {
    throw new StaleCacheError(`Deployment ${namespace}/${name}: old pod ${running.metadata.name} still runs`);
  }
}

/** The equality part of the selector: enough to keep the list short, the owner decides. */
function equalities(deployment: DeepReadonly<Deployment>): string | undefined {
  const labels = Object.entries(deployment.spec.selector.matchLabels ?? {});
  return labels.length === 0 ? undefined : labels.map(([key, value]) => `${key}=${value}`).join(',');
}

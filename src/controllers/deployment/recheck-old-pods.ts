import type { ApiClient } from '@rollkeeper/runtime';
import { StaleCacheError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { selectorEqualities } from './kubernetes/deployment-api.js';
import { Pod, controllerOf, isPodFinished } from '@rollkeeper/machinery/kubernetes';

/**
 * Checks with the API, bypassing the cache, that the last old pod has ended before a Recreate starts the new version:
 * ReplicaSets and pods have separate watches, so an existing pod may so far only be visible in its ReplicaSet's status.
 * One list per Recreate.
 * @param mustHaveEnded UIDs of the old ReplicaSets
 * @throws StaleCacheError if one still runs: retry when the cache knows it too
 */
export async function recheckOldPods(
  deployment: DeepReadonly<Deployment>,
  mustHaveEnded: ReadonlySet<string>,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  if (mustHaveEnded.size === 0) return;
  const { namespace, name } = deployment.metadata;
  const labelSelector = selectorEqualities(deployment);
  const { items } = await client.list<Pod>(Pod, { namespace, labelSelector, signal });
  const running = items.find((pod) => !isPodFinished(pod) && mustHaveEnded.has(controllerOf(pod)?.uid ?? ''));
  if (running) {
    throw new StaleCacheError(`Deployment ${namespace}/${name}: old pod ${running.metadata.name} still runs`);
  }
}

import type { DiscoveredResource } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  KubernetesObject,
  Namespace,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';

/** Our finalizer in `spec.finalizers`. */
export const KUBERNETES_FINALIZER = 'kubernetes';

/** Whether the namespace is being deleted and waits for us. */
export function isOursToEmpty(namespace: DeepReadonly<Namespace>): boolean {
  return (
    namespace.metadata.deletionTimestamp !== undefined &&
    (namespace.spec?.finalizers ?? []).includes(KUBERNETES_FINALIZER)
  );
}

/**
 * The types whose objects have to be deleted, in two waves: pods first, so that nothing a pod relies on (its network
 * policies, secrets, leases) is removed while it still runs. Source: Kubernetes' OrderedNamespaceDeletion (KEP-5080).
 */
export function decideDeletionWaves(
  resources: readonly DiscoveredResource[],
): readonly DiscoveredResource[][] {
  const deletable = resources.filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes('list') && verbs.includes('delete'),
  );
  const isPod = ({ group, resource }: ResourceType): boolean => group === '' && resource === 'pods';
  return [deletable.filter(isPod), deletable.filter((type) => !isPod(type))];
}

/** The findings of a pass over a namespace's content. */
interface ContentLeft {
  readonly objects: readonly DeepReadonly<KubernetesObject>[];
  readonly discoveryFailures: readonly string[];
  readonly deletionFailures: readonly string[];
}

/** `finalize`: empty, so it may go. `wait`: for objects being deleted. `retry`: something could not be read. */
export type NextStep =
  { readonly action: 'finalize' } | { readonly action: 'wait' | 'retry'; readonly recheckMs: number };

/** Delay before retrying a failed type or group. */
const FAILURE_RECHECK_MS = 5_000;

/** A namespace is only finalized if everything in it could be read, and nothing was found. */
export function decideNextStep(
  { deletionFailures, discoveryFailures, objects }: ContentLeft,
  nowMs: number,
): NextStep {
  if (discoveryFailures.length + deletionFailures.length > 0)
    return { action: 'retry', recheckMs: FAILURE_RECHECK_MS };
  if (objects.length > 0) return { action: 'wait', recheckMs: decideRecheckMs(objects, nowMs) };
  return { action: 'finalize' };
}

/** Source: `finalizerEstimateSeconds`, the wait for others' finalizers. */
const FINALIZER_WAIT_MS = 15_000;

/**
 * Estimated time until the rest is deleted: half of the longest grace period, because most need less. Source:
 * `estimateGracefulTermination`, and the requeue in k/k pkg/controller/namespace/namespace_controller.go.
 */
export function decideRecheckMs(remaining: readonly DeepReadonly<KubernetesObject>[], nowMs: number): number {
  let longestMs = 0;
  for (const { metadata } of remaining) {
    if (metadata.finalizers?.length) longestMs = Math.max(longestMs, FINALIZER_WAIT_MS);
    else if (metadata.deletionTimestamp) {
      longestMs = Math.max(longestMs, Date.parse(metadata.deletionTimestamp) - nowMs);
    }
  }
  return Math.floor(longestMs / 2000) * 1000 + 1000;
}

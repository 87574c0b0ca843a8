import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_ASKED,
  ON_EVICTION,
  Pod,
  SURGE,
  decideReplacement,
  isEvictionToBeNoted,
} from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { RefusedWith } from '@rollkeeper/webhooks';

/** A pod whose eviction is requested, and the Deployment that it belongs to. */
export interface EvictedPod {
  readonly pod: DeepReadonly<Pod>;
  readonly deployment: DeepReadonly<Deployment>;
  readonly namespaceAnnotations: Readonly<Record<string, string>> | undefined;
}

/**
 * Refuses the eviction of a pod that its Deployment replaces first, as long as it is there, and says so on the pod for the
 * Deployment's controller. The budgets decide about evictions that the policy does not hold.
 * @throws what the API answers
 */
export async function holdEviction(
  { deployment, namespaceAnnotations, pod }: EvictedPod,
  client: Pick<ApiClient, 'patch'>,
  {
    dryRun,
    nowMs,
    signal,
  }: { readonly dryRun: boolean; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<RefusedWith | undefined> {
  const replacement = decideReplacement(pod, deployment, namespaceAnnotations);
  if (replacement === 'none') return undefined;
  if (!dryRun && isEvictionToBeNoted(pod, nowMs)) {
    const { name, namespace, uid } = pod.metadata;
    // With the UID: another pod of the name is not meant.
    const body = { metadata: { uid, annotations: { [EVICTION_ASKED]: toRfc3339(nowMs) } } };
    await unlessGone(client.patch(Pod, { namespace, name }, { type: 'merge', body }, { signal }));
  }
  if (replacement === 'noted') return undefined;
  const by = `Deployment ${deployment.metadata.name} starts another pod first (${ON_EVICTION}: ${SURGE})`;
  return { code: 429, message: `Cannot evict pod before another one is available in its place: ${by}` };
}

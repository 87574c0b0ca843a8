import type { DeepReadonly, Deployment, Pod } from '@rollkeeper/machinery/kubernetes';
import { ON_EVICTION, SURGE, decideReplacement, findCondition } from '@rollkeeper/machinery/kubernetes';
import type { Progress } from '../../shared/index.js';

/** The response to the eviction of a pod that exists. */
export interface Response extends Progress {
  /** Whether the Deployment must replace the pod. It learns that from an annotation of the pod. */
  readonly asks: boolean;
}

interface Seen {
  readonly pod: DeepReadonly<Pod>;
  /** The Deployment that controls the pod. */
  readonly deployment: DeepReadonly<Deployment> | undefined;
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
}

/**
 * The response to the eviction of a pod: its Deployment starts another pod first, by its policy `on-eviction`. If it would start
 * none, the next responder gets its turn at once, so that no drain waits for a pod that never comes.
 */
export function decideResponse({ deployment, namespaceAnnotations, pod }: Seen): Response {
  const { name } = pod.metadata;
  if (!deployment) return declined(`no Deployment controls pod ${name}`);
  const by = `Deployment ${deployment.metadata.name}`;
  if (hasFailed(deployment))
    return declined(`the rollout of ${by} makes no progress, so no other pod is awaited`);
  switch (decideReplacement(pod, deployment, namespaceAnnotations)) {
    case 'replaced':
      return { asks: true, message: `${by} starts another pod; ${name} goes when that one is available` };
    case 'noted':
      return {
        asks: true,
        message: `${by} lets ${name} go with its rollout, or as another pod is available`,
      };
    case 'none':
      return declined(`${by} replaces no pods first; that takes ${ON_EVICTION}: ${SURGE} and a maxSurge`);
  }
}

function declined(why: string): Response {
  return { asks: false, isDone: true, message: `Left to the next responder: ${why}` };
}

/** The progress deadline has passed. */
function hasFailed({ status }: DeepReadonly<Deployment>): boolean {
  return findCondition(status?.conditions, 'Progressing')?.status === 'False';
}

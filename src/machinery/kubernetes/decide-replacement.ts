import { ON_EVICTION, SURGE } from './asked-eviction.js';
import type { DeepReadonly, Deployment, Pod } from './objects.js';
import { isPodReady } from './pods.js';

type Annotations = Readonly<Record<string, string>>;

/**
 * The answer of a pod's Deployment to its eviction. `replaced`: its controller lets the pod go when another one is
 * available, so the request has to wait. `noted`: a budget decides, and where it refuses the controller has to know.
 * `none`: neither.
 */
export type Replacement = 'replaced' | 'noted' | 'none';

/** Whether the controller of `deployment` would replace `pod` first, as the policy `on-eviction` has it. */
export function decideReplacement(
  pod: DeepReadonly<Pod>,
  deployment: DeepReadonly<Deployment>,
  namespaceAnnotations: Annotations = {},
): Replacement {
  const { metadata, spec } = deployment;
  const isAsked =
    (metadata.annotations?.[ON_EVICTION] ?? namespaceAnnotations[ON_EVICTION] ?? '').trim() === SURGE;
  const isEnding = pod.metadata.deletionTimestamp !== undefined || metadata.deletionTimestamp !== undefined;
  if (!isAsked || isEnding || pod.status?.phase !== 'Running' || !maySurge(spec)) return 'none';
  return isPodReady(pod) && isAtRest(deployment) ? 'replaced' : 'noted';
}

function maySurge({ paused, replicas = 1, strategy }: DeepReadonly<Deployment['spec']>): boolean {
  if (paused || replicas === 0 || (strategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return false;
  return Number.parseInt(String(strategy?.rollingUpdate?.maxSurge ?? '25%'), 10) !== 0;
}

/** No rollout is under way, which would keep the pod for as long as it takes. */
function isAtRest({ metadata, status = {} }: DeepReadonly<Deployment>): boolean {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = status;
  return observedGeneration >= (metadata.generation ?? 0) && replicas === updatedReplicas;
}

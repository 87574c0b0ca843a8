import type { DeepReadonly, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, readyConditionOf, isTerminating } from '@rollkeeper/machinery/kubernetes';
import type { Disruption } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/** Number of ended pods kept; kube-controller-manager's `--terminated-pod-gc-threshold`. */
const FINISHED_KEPT = 12_500;
/** A node that has been missing for this long does not come back under its name. */
export const QUARANTINE_MS = 40_000;

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

type GarbageDecision =
  | { readonly action: 'keep' }
  /** If the node was deleted permanently, no kubelet will end the pod. */
  | { readonly action: 'wait-for-node' }
  | { readonly action: 'delete'; readonly why: Disruption };

/**
 * Whether no other component will ever end a pod. Source: k/k pkg/controller/podgc.
 * @param node the pod's, if there is one
 */
export function decideGarbage(pod: ReadablePod, node: DeepReadonly<Node> | undefined): GarbageDecision {
  if (!pod.spec.nodeName)
    return isTerminating(pod)
      ? removed('PodGC: pod is terminating and was never scheduled')
      : { action: 'keep' };
  if (!node) return { action: 'wait-for-node' };
  if (isTerminating(pod) && isOutOfService(node) && readyConditionOf(node)?.status !== 'True')
    return removed('PodGC: node is out of service', failed(pod));
  return { action: 'keep' };
}

/** The excess ended pods: the oldest. */
export function decideExcess(finished: readonly ReadablePod[], kept = FINISHED_KEPT): readonly ReadablePod[] {
  if (finished.length <= kept) return [];
  const ageOf = ({ metadata }: ReadablePod): string => metadata.creationTimestamp ?? '';
  return finished
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
    .slice(0, finished.length - kept);
}

export const EXCESS: Disruption = {
  reason: 'DeletionByPodGC',
  message: 'PodGC: there are too many pods that have ended',
  gracePeriodSeconds: 0,
};

export function isOutOfService({ spec }: DeepReadonly<Node>): boolean {
  return spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false;
}

/** Its node no longer exists. */
export function orphaned(pod: ReadablePod): Disruption {
  return { ...EXCESS, message: 'PodGC: node no longer exists', ...failed(pod) };
}

function removed(message: string, phase: Pick<Disruption, 'phase'> = {}): GarbageDecision {
  return { action: 'delete', why: { ...EXCESS, message, ...phase } };
}

/** For a pod that had not ended, the outcome is unknown. */
function failed(pod: ReadablePod): Pick<Disruption, 'phase'> {
  return isPodFinished(pod) ? {} : { phase: 'Failed' };
}

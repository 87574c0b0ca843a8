import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { ClusterEventWithHint } from '../../framework/cluster-event.js';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { AffinityTerm, ReadableNode, ReadablePod } from '../../framework/node-info.js';
import { selectsPod } from '../../node/pod-affinity-terms.js';
import { podInfoOf } from '../../node/pod-info.js';
import { isOnNode, onNodes, onPods } from '../hints.js';
import { namespaceLabelsIn } from './namespace-labels.js';

/**
 * The events that may help: a pod comes that is wanted near, one goes that kept the pod away, a node has a domain that
 * terms are about.
 */
export function affinityEvents(view: ClusterView): readonly ClusterEventWithHint[] {
  return [
    onPods(['add', 'update-pod-labels', 'delete'], (pod, before, after) => {
      if ((before && !isOnNode(before)) || (after && !isOnNode(after))) return false;
      return isWantedNow(pod, before, after, view) || keptAway(pod, before, after, view);
    }),
    onNodes(['add', 'update-node-labels'], (pod, _before, after) => hasDomain(after, pod)),
  ];
}

/** One pod has to match all terms. */
function isWantedNow(
  pod: ReadablePod,
  before: ReadablePod | undefined,
  after: ReadablePod | undefined,
  view: ClusterView,
): boolean {
  const { required } = podInfoOf(pod).affinity;
  const isWanted = (other: ReadablePod | undefined): boolean =>
    other !== undefined && required.length > 0 && required.every((term) => selects(term, other, view));
  return !isWanted(before) && isWanted(after);
}

function keptAway(
  pod: ReadablePod,
  before: ReadablePod | undefined,
  after: ReadablePod | undefined,
  view: ClusterView,
): boolean {
  if (!before) return false;
  const { requiredAnti } = podInfoOf(pod).affinity;
  const wasUnwanted = requiredAnti.some(
    (term) => selects(term, before, view) && !(after && selects(term, after, view)),
  );
  // The terms of a pod that is there never change.
  const objected = podInfoOf(before).affinity.requiredAnti.some((term) => selects(term, pod, view));
  return wasUnwanted || (!after && objected);
}

function selects(term: AffinityTerm, pod: ReadablePod, view: ClusterView): boolean {
  return selectsPod(term, pod, namespaceLabelsIn(view));
}

function hasDomain(node: ReadableNode | undefined, pod: ReadablePod): boolean {
  const { required, requiredAnti } = podInfoOf(pod).affinity;
  return [...required, ...requiredAnti].some(
    ({ topologyKey }) => ownField(node?.metadata.labels, topologyKey) !== undefined,
  );
}

import { ownField, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ClusterEventWithHint } from '../../framework/cluster-event.js';
import type { ReadableNode, ReadablePod } from '../../framework/node-info.js';
import { isOnNode, isSamePod, onNodes, onPods } from '../hints.js';
import type { Constraint } from './constraint.js';
import { hasAllKeys } from './constraint.js';

/** The events that may make room in a domain: pods that its constraints count, and nodes that are in their domains. */
export function spreadEvents(
  constraintsOf: (pod: ReadablePod) => readonly Constraint[],
): readonly ClusterEventWithHint[] {
  return [
    onPods(
      ['add', 'delete', 'update-pod-labels', 'update-pod-tolerations'],
      (pod, before, after) =>
        [before, after].every((other) => other === undefined || concerns(pod, other)) &&
        isOtherwiseCounted(pod, { before, after }, constraintsOf(pod)),
    ),
    onNodes(['add', 'delete', 'update-node-labels', 'update-node-taints'], (pod, before, after) =>
      isOtherwisePlaced(before, after, constraintsOf(pod)),
    ),
  ];
}

function concerns(pod: ReadablePod, other: ReadablePod): boolean {
  return isSamePod(pod, other) || (isOnNode(other) && other.metadata.namespace === pod.metadata.namespace);
}

interface PodChange {
  readonly before: ReadablePod | undefined;
  readonly after: ReadablePod | undefined;
}

function isOtherwiseCounted(
  pod: ReadablePod,
  { after, before }: PodChange,
  constraints: readonly Constraint[],
): boolean {
  const selects = (constraint: Constraint, other: ReadablePod): boolean =>
    constraint.selects(other.metadata.labels);
  if (before && after) {
    const toleratesMore = isSamePod(pod, after) && !sameJson(before.spec.tolerations, after.spec.tolerations);
    return (
      (toleratesMore && constraints.some(({ honorsTaints }) => honorsTaints)) ||
      constraints.some((each) => selects(each, before) !== selects(each, after))
    );
  }
  const other = after ?? before;
  return other !== undefined && constraints.some((each) => selects(each, other));
}

function isOtherwisePlaced(
  before: ReadableNode | undefined,
  after: ReadableNode | undefined,
  constraints: readonly Constraint[],
): boolean {
  const isIn = (node: ReadableNode | undefined): boolean =>
    node !== undefined && hasAllKeys(node, constraints);
  if (!before || !after) return isIn(before ?? after);
  if (isIn(before) !== isIn(after)) return true;
  const hasMoved = constraints.some(
    ({ topologyKey }) =>
      ownField(before.metadata.labels, topologyKey) !== ownField(after.metadata.labels, topologyKey),
  );
  return isIn(after) && (hasMoved || !sameJson(before.spec?.taints, after.spec?.taints));
}

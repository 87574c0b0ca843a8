import {
  compileLabelSelector,
  compileNodeSelection,
  controllerOf,
  isEmptySelector,
  isTerminating,
  ownField,
  tryCompileLabelSelector,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import type { LabelMatcher, NodeMatcher } from '@rollkeeper/machinery/kubernetes';
import type { NodeInfo, PodInfo, ReadableNode, ReadablePod } from '../../framework/node-info.js';
import { EveryNode, PerNode, countPodsSince } from '../per-node.js';
import { hasUntoleratedTaint } from '../taint-toleration.js';

type Stated = NonNullable<ReadablePod['spec']['topologySpreadConstraints']>[number];

/** The label of a node that has a domain of its own. */
export const HOSTNAME = 'kubernetes.io/hostname';

export interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selects: LabelMatcher;
  /** Constraints with the same key select the same pods. */
  readonly selectorKey: string;
  /** A selector without requirements selects the pod itself and counts no other. */
  readonly countsNone: boolean;
  /** UIDs of controllers whose pods are about to be replaced, and do not count. */
  readonly leaving: readonly string[];
  /** Nodes that the pod does not tolerate do not count. */
  readonly honorsTaints: boolean;
  /** Whether pods on such nodes count, and the nodes' domains. */
  readonly includes: (node: ReadableNode) => boolean;
}

interface ConstraintParts {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains?: number;
  readonly selects: LabelMatcher;
  readonly selectorKey: string;
  readonly countsNone?: boolean;
  /** @default none */
  readonly leaving?: readonly string[];
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
}

/** The pod's own constraints of one kind. */
export function statedConstraints(
  { pod }: PodInfo,
  whenUnsatisfiable: string,
  leaving: readonly string[],
): Constraint[] {
  const stated = pod.spec.topologySpreadConstraints ?? [];
  return stated
    .filter((constraint) => constraint.whenUnsatisfiable === whenUnsatisfiable)
    .map((constraint) => compileConstraint({ ...constraint, ...selectorOf(constraint), leaving }, pod));
}

function selectorOf({
  labelSelector,
}: Stated): Pick<ConstraintParts, 'countsNone' | 'selectorKey' | 'selects'> {
  return {
    selects: tryCompileLabelSelector(labelSelector) ?? NOTHING,
    selectorKey: stringifyJson(labelSelector ?? null),
    countsNone: labelSelector !== undefined && isEmptySelector(labelSelector),
  };
}

const NONE: readonly string[] = [];
const NOTHING = compileLabelSelector(undefined);

export function compileConstraint(parts: ConstraintParts, pod: ReadablePod): Constraint {
  const { countsNone = false, leaving = NONE, maxSkew, minDomains = 1, selectorKey, selects } = parts;
  const { topologyKey } = parts;
  const { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = parts;
  const isSelected: NodeMatcher | undefined =
    nodeAffinityPolicy === 'Honor' && hasNodeSelection(pod) ? compileNodeSelection(pod.spec) : undefined;
  const honorsTaints = nodeTaintsPolicy === 'Honor';
  return {
    topologyKey,
    maxSkew,
    minDomains,
    selects,
    selectorKey,
    countsNone,
    leaving,
    honorsTaints,
    includes: (node) =>
      (!isSelected || isSelected(node)) &&
      (!honorsTaints || !hasUntoleratedTaint(node.spec?.taints, pod.spec.tolerations)),
  };
}

function hasNodeSelection({ spec: { affinity, nodeSelector } }: ReadablePod): boolean {
  return (
    nodeSelector !== undefined ||
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined
  );
}

/** Whether the node is in some domain of every constraint. */
export function hasAllKeys({ metadata }: ReadableNode, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ topologyKey }) => ownField(metadata.labels, topologyKey) !== undefined);
}

const counts = new PerNode<number>();
const countsOfAll = new EveryNode<number>(({ pods }) => pods);

/** How many of a node's pods the constraint counts: those of the namespace that it selects, unless they are being deleted. */
export function countPods(pods: readonly PodInfo[], constraint: Constraint, namespace = ''): number {
  if (constraint.countsNone) return 0;
  const isCounted = counterOf(constraint, namespace);
  return counts.of(pods, keyOf(constraint, namespace), () => countAll(pods, isCounted));
}

/** {@link countPods} for each node, in their order; only valid until it is called again. */
export function countPodsOnAll(
  nodes: readonly NodeInfo[],
  constraint: Constraint,
  namespace = '',
): readonly number[] {
  if (constraint.countsNone) return nodes.map(() => 0);
  const key = keyOf(constraint, namespace);
  const isCounted = counterOf(constraint, namespace);
  // Another constraint asks for the same counts node by node.
  return countsOfAll.of(nodes, key, (pods, last) =>
    counts.of(pods, key, () => (last ? countPodsSince(last, pods, isCounted) : countAll(pods, isCounted))),
  );
}

function keyOf({ leaving, selectorKey }: Constraint, namespace: string): string {
  const key = `${namespace} ${selectorKey}`;
  return leaving.length === 0 ? key : `${key} without ${leaving.join()}`;
}

function counterOf(constraint: Constraint, namespace: string): (pod: PodInfo) => boolean {
  return ({ pod }) =>
    pod.metadata.namespace === namespace && !isTerminating(pod) && isCounted(constraint, pod);
}

/** Whether a constraint counts a pod of its namespace. */
export function isCounted({ leaving, selects }: Constraint, pod: ReadablePod): boolean {
  if (!selects(pod.metadata.labels)) return false;
  return leaving.length === 0 || !leaving.includes(controllerOf(pod)?.uid ?? '');
}

function countAll(pods: readonly PodInfo[], isCounted: (pod: PodInfo) => boolean): number {
  let count = 0;
  for (const pod of pods) if (isCounted(pod)) count++;
  return count;
}

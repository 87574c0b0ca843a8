import { ownField, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { AffinityTerm, NodeInfo, PodInfo } from '../../framework/node-info.js';
import type { SchedulingContext, Verdict } from '../../framework/plugin.js';
import { unresolvable, unschedulable } from '../../framework/status.js';
import type { NamespaceLabels } from '../../node/pod-affinity-terms.js';
import { selectsPod } from '../../node/pod-affinity-terms.js';
import { EveryNode } from '../per-node.js';
import { TopologyCounts } from '../topology-counts.js';
import type { CountChange } from '../topology-counts.js';
import { namespaceLabelsIn } from './namespace-labels.js';

const NO_AFFINITY = unresolvable("node(s) didn't match pod affinity rules");
const ANTI_AFFINITY = unschedulable("node(s) didn't match pod anti-affinity rules");
const OTHERS_ANTI_AFFINITY = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");

/** Pods per domain that matter for the pod's required terms and for those of others. */
export interface RequiredState {
  /** Counts of pods that all of the pod's affinity terms select. */
  readonly affinity: TopologyCounts;
  /** Counts of pods that one of the pod's anti-affinity terms selects. */
  readonly anti: TopologyCounts;
  /** Counts of pods with an anti-affinity term that selects this pod. */
  readonly othersAnti: TopologyCounts;
  readonly namespaceLabels: NamespaceLabels;
}

/** How many pods of a node all of some terms select. */
const selected = new EveryNode<number>(({ pods }) => pods);
/** The topology keys by which pods of a node refuse one kind of pod, once for each of their terms. */
const refusals = new EveryNode<readonly string[]>(
  ({ podsWithRequiredAntiAffinity }) => podsWithRequiredAntiAffinity,
);

/** @returns undefined where no required term concerns the pod */
export function countRequired({ pod, snapshot, view }: SchedulingContext): RequiredState | undefined {
  const { required, requiredAnti } = pod.affinity;
  const namespaceLabels = namespaceLabelsIn(view);
  const othersAnti = TopologyCounts.of(countRefusals(pod, snapshot, namespaceLabels));
  const hasTerms = required.length > 0 || requiredAnti.length > 0;
  if (!hasTerms && othersAnti.total === 0) return undefined;
  const { nodes } = snapshot;
  const domains = (terms: readonly AffinityTerm[]): CountChange[] => {
    if (terms.length === 0) return [];
    const isSelected = (other: PodInfo): boolean => selectAll(terms, other, namespaceLabels);
    const counts = selected.of(nodes, keyOfAll(terms), (pods) => pods.filter(isSelected).length);
    return counts.flatMap((count, place) => domainsOf(nodes[place]!, terms, count));
  };
  return {
    affinity: TopologyCounts.of(domains(required)),
    anti: TopologyCounts.of(requiredAnti.flatMap((term) => domains([term]))),
    othersAnti,
    namespaceLabels,
  };
}

function countRefusals(
  pod: PodInfo,
  { nodes, withRequiredAntiAffinity }: SchedulingContext['snapshot'],
  namespaceLabels: NamespaceLabels,
): CountChange[] {
  if (withRequiredAntiAffinity.length === 0) return [];
  const { labels, namespace = '' } = pod.pod.metadata;
  const kind = stringifyJson([namespace, labels, namespaceLabels(namespace)]);
  const find = (others: readonly PodInfo[]): string[] =>
    others
      .flatMap(({ affinity }) => termsSelecting(affinity.requiredAnti, pod, namespaceLabels))
      .map(({ topologyKey }) => topologyKey);
  return refusals.of(nodes, kind, find).flatMap((keys, place) =>
    keys.flatMap((key) => {
      const value = ownField(nodes[place]!.node.metadata.labels, key);
      return value === undefined ? [] : [{ key, value, by: 1 }];
    }),
  );
}

function keyOfAll(terms: readonly AffinityTerm[]): string | undefined {
  const keys = terms.map(({ key }) => key);
  return keys.includes(undefined) ? undefined : keys.join(' ');
}

/** The state with one pod more (`by` 1) or less (−1) on the node. */
export function changeRequired(
  state: RequiredState,
  other: PodInfo,
  node: NodeInfo,
  { by, pod }: { readonly by: 1 | -1; readonly pod: PodInfo },
): RequiredState {
  const { namespaceLabels } = state;
  const { required, requiredAnti } = pod.affinity;
  const selecting = termsSelecting(other.affinity.requiredAnti, pod, namespaceLabels);
  const selected = selectAll(required, other, namespaceLabels) ? required : [];
  return {
    affinity: state.affinity.plus(domainsOf(node, selected, by)),
    anti: state.anti.plus(domainsOf(node, termsSelecting(requiredAnti, other, namespaceLabels), by)),
    othersAnti: state.othersAnti.plus(domainsOf(node, selecting, by)),
    namespaceLabels,
  };
}

export function filterRequired(
  { node }: NodeInfo,
  { pod }: SchedulingContext,
  state: RequiredState,
): Verdict {
  const { labels } = node.metadata;
  if (!isAffinityMet(labels, pod, state)) return NO_AFFINITY;
  const isRepelled = pod.affinity.requiredAnti.some(({ topologyKey }) => {
    const value = ownField(labels, topologyKey);
    return value !== undefined && state.anti.get(topologyKey, value) > 0;
  });
  if (isRepelled) return ANTI_AFFINITY;
  return repelsIn(labels, state.othersAnti) ? OTHERS_ANTI_AFFINITY : undefined;
}

type Labels = Readonly<Record<string, string>> | undefined;

function isAffinityMet(labels: Labels, pod: PodInfo, { affinity, namespaceLabels }: RequiredState): boolean {
  const { required } = pod.affinity;
  let areThere = true;
  for (const { topologyKey } of required) {
    const value = ownField(labels, topologyKey);
    if (value === undefined) return false;
    if (affinity.get(topologyKey, value) <= 0) areThere = false;
  }
  // The first of a series of pods with affinity to each other could otherwise never be placed.
  return areThere || (affinity.total === 0 && selectAll(required, pod, namespaceLabels));
}

function repelsIn(labels: Labels, othersAnti: TopologyCounts): boolean {
  if (othersAnti.total === 0) return false;
  for (const key in labels) if (othersAnti.get(key, labels[key]!) > 0) return true;
  return false;
}

/** Whether all terms select the pod; no terms select nothing. */
function selectAll(terms: readonly AffinityTerm[], pod: PodInfo, namespaceLabels: NamespaceLabels): boolean {
  return terms.length > 0 && terms.every((term) => selectsPod(term, pod.pod, namespaceLabels));
}

function termsSelecting(
  terms: readonly AffinityTerm[],
  pod: PodInfo,
  namespaceLabels: NamespaceLabels,
): readonly AffinityTerm[] {
  return terms.length === 0 ? terms : terms.filter((term) => selectsPod(term, pod.pod, namespaceLabels));
}

/** `by` more pods for each term in the domain of this node, if the node is in one. */
function domainsOf({ node }: NodeInfo, terms: readonly AffinityTerm[], by = 1): CountChange[] {
  if (by === 0) return [];
  const changes: CountChange[] = [];
  for (const { topologyKey } of terms) {
    const value = ownField(node.metadata.labels, topologyKey);
    if (value !== undefined) changes.push({ key: topologyKey, value, by });
  }
  return changes;
}

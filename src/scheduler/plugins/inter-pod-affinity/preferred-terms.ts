import { ownField, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { AffinityTerm, NodeInfo, PodInfo } from '../../framework/node-info.js';
import { MAX_NODE_SCORE } from '../../framework/plugin.js';
import type { SchedulingContext } from '../../framework/plugin.js';
import type { NamespaceLabels } from '../../node/pod-affinity-terms.js';
import { selectsPod } from '../../node/pod-affinity-terms.js';
import { EveryNode } from '../per-node.js';
import { TopologyCounts } from '../topology-counts.js';
import type { CountChange } from '../topology-counts.js';
import { namespaceLabelsIn } from './namespace-labels.js';

interface PreferredOptions {
  /** The weight of another pod's required term that selects this one. */
  readonly hardPodAffinityWeight: number;
  /** Leaves out what other pods prefer where this one prefers nothing. */
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

type Weights = ReadonlyMap<string, number>;

const NO_WEIGHTS: Weights = new Map();

/** How many pods of a node a term selects. */
const selected = new EveryNode<number>(({ pods }) => pods);
/** The weights that the terms of a node's pods give one kind of pod, by topology key. */
const opinions = new EveryNode<Weights>(({ podsWithAffinity }) => podsWithAffinity);

/** Weights per domain. @returns undefined where nothing was weighed */
export function weighPreferred(
  context: SchedulingContext,
  options: PreferredOptions,
): TopologyCounts | undefined {
  const { pod, snapshot, view } = context;
  const { preferred, preferredAnti } = pod.affinity;
  const own = [...preferred, ...preferredAnti.map((term) => ({ ...term, weight: -term.weight }))];
  if (options.ignorePreferredTermsOfExistingPods && own.length === 0) return undefined;
  const namespaceLabels = namespaceLabelsIn(view);
  const changes: CountChange[] = [];
  const note = ({ node }: NodeInfo, key: string, by: number): void => {
    const value = ownField(node.metadata.labels, key);
    if (value !== undefined) changes.push({ key, value, by });
  };
  const { nodes } = snapshot;
  for (const term of own) {
    const isSelected = (other: PodInfo): boolean => selectsPod(term, other.pod, namespaceLabels);
    const counts = selected.of(nodes, term.key, (pods) => pods.filter(isSelected).length);
    for (const [place, count] of counts.entries())
      if (count > 0) note(nodes[place]!, term.topologyKey, term.weight * count);
  }
  if (snapshot.withAffinity.length > 0) {
    const find = (others: readonly PodInfo[]): Weights => opinionsOf(others, pod, namespaceLabels, options);
    const found = opinions.of(nodes, kindOf(pod, namespaceLabels, options), find);
    for (const [place, weights] of found.entries())
      for (const [key, weight] of weights) note(nodes[place]!, key, weight);
  }
  return changes.length > 0 ? TopologyCounts.of(changes) : undefined;
}

/** All of a pod that the terms of others look at. */
function kindOf(
  { pod: { metadata } }: PodInfo,
  namespaceLabels: NamespaceLabels,
  { hardPodAffinityWeight }: PreferredOptions,
): string {
  const { labels, namespace = '' } = metadata;
  return stringifyJson([namespace, labels, namespaceLabels(namespace), hardPodAffinityWeight]);
}

function opinionsOf(
  others: readonly PodInfo[],
  pod: PodInfo,
  namespaceLabels: NamespaceLabels,
  { hardPodAffinityWeight }: PreferredOptions,
): Weights {
  if (others.length === 0) return NO_WEIGHTS;
  const weights = new Map<string, number>();
  const weigh = (term: AffinityTerm, weight: number): void => {
    if (weight !== 0 && selectsPod(term, pod.pod, namespaceLabels))
      weights.set(term.topologyKey, (weights.get(term.topologyKey) ?? 0) + weight);
  };
  for (const { affinity } of others) {
    for (const term of affinity.required) weigh(term, hardPodAffinityWeight);
    for (const term of affinity.preferred) weigh(term, term.weight);
    for (const term of affinity.preferredAnti) weigh(term, -term.weight);
  }
  return weights;
}

export function scorePreferred({ node }: NodeInfo, weights: TopologyCounts): number {
  const { labels } = node.metadata;
  let sum = 0;
  for (const key in labels) sum += weights.get(key, labels[key]!);
  return sum;
}

/** The lowest becomes 0 and the highest 100. */
export function spreadOut(raw: readonly number[]): readonly number[] {
  const lowest = Math.min(...raw);
  const range = Math.max(...raw) - lowest;
  return raw.map((score) => (range > 0 ? Math.trunc(MAX_NODE_SCORE * ((score - lowest) / range)) : 0));
}

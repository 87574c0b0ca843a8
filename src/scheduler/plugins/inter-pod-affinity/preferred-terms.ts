import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { AffinityTerm, NodeInfo, PodInfo, WeightedAffinityTerm } from '../../framework/node-info.js';
import { MAX_NODE_SCORE } from '../../framework/plugin.js';
import type { SchedulingContext } from '../../framework/plugin.js';
import { selectsPod } from '../../node/pod-affinity-terms.js';
import { TopologyCounts } from '../topology-counts.js';
import type { CountChange } from '../topology-counts.js';
import { namespaceLabelsIn } from './namespace-labels.js';

export interface PreferredOptions {
  /** What a required term of another pod counts that selects this one. */
  readonly hardPodAffinityWeight: number;
  /** Leaves out what other pods prefer where this one prefers nothing. */
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

/** Weights per domain, and the topology keys that occur. @returns undefined where nothing was weighed */
export function weighPreferred(
  { pod, snapshot, view }: SchedulingContext,
  { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods }: PreferredOptions,
): TopologyCounts | undefined {
  const { preferred, preferredAnti } = pod.affinity;
  const hasPreferences = preferred.length > 0 || preferredAnti.length > 0;
  if (ignorePreferredTermsOfExistingPods && !hasPreferences) return undefined;
  const namespaceLabels = namespaceLabelsIn(view);
  const changes: CountChange[] = [];
  const weigh = (term: AffinityTerm, selected: PodInfo, node: NodeInfo, by: number): void => {
    const value = ownField(node.node.metadata.labels, term.topologyKey);
    if (value === undefined || !selectsPod(term, selected.pod, namespaceLabels)) return;
    changes.push({ key: term.topologyKey, value, by });
  };
  const weighAll = (
    terms: readonly WeightedAffinityTerm[],
    selected: PodInfo,
    node: NodeInfo,
    sign: 1 | -1,
  ): void => {
    for (const term of terms) weigh(term, selected, node, sign * term.weight);
  };
  for (const node of hasPreferences ? snapshot.nodes : snapshot.withAffinity)
    for (const other of hasPreferences ? node.pods : node.podsWithAffinity) {
      weighAll(preferred, other, node, 1);
      weighAll(preferredAnti, other, node, -1);
      if (hardPodAffinityWeight > 0)
        for (const term of other.affinity.required) weigh(term, pod, node, hardPodAffinityWeight);
      weighAll(other.affinity.preferred, pod, node, 1);
      weighAll(other.affinity.preferredAnti, pod, node, -1);
    }
  return changes.length > 0 ? TopologyCounts.of(changes) : undefined;
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

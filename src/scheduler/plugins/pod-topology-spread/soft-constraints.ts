import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { NodeInfo } from '../../framework/node-info.js';
import { MAX_NODE_SCORE } from '../../framework/plugin.js';
import type { SchedulingContext } from '../../framework/plugin.js';
import type { Constraint } from './constraint.js';
import { HOSTNAME, countPods, countPodsOnAll, hasAllKeys } from './constraint.js';

interface WeightedConstraint extends Constraint {
  /** Larger where there are more domains, so that the few pods of each are not outweighed. */
  readonly weight: number;
  /** Pods by domain; of single nodes they are counted when the node is scored. */
  readonly counts: ReadonlyMap<string, number> | undefined;
}

export interface SoftSpread {
  readonly constraints: readonly WeightedConstraint[];
  readonly ignored: ReadonlySet<NodeInfo>;
}

interface SoftOptions {
  /** Nodes outside any domain are ignored. Not so for the system's defaults: clusters without zones spread over nodes. */
  readonly requiresAllKeys: boolean;
}

export function weighDomains(
  { pod, snapshot }: SchedulingContext,
  feasible: readonly NodeInfo[],
  constraints: readonly Constraint[],
  { requiresAllKeys }: SoftOptions,
): SoftSpread {
  const isOutside = ({ node }: NodeInfo): boolean => requiresAllKeys && !hasAllKeys(node, constraints);
  const ignored = new Set(feasible.filter(isOutside));
  const scored = feasible.filter((node) => !ignored.has(node));
  const counts = constraints.map(({ topologyKey }) =>
    topologyKey === HOSTNAME ? undefined : new Map(scored.map((node) => [domainOf(node, topologyKey), 0])),
  );
  for (const [index, constraint] of constraints.entries()) {
    const ofDomains = counts[index];
    if (!ofDomains) continue;
    const onNodes = countPodsOnAll(snapshot.nodes, constraint, pod.pod.metadata.namespace);
    for (const [place, node] of snapshot.nodes.entries()) {
      const count = onNodes[place]!;
      const value = domainOf(node, constraint.topologyKey);
      const before = count === 0 ? undefined : ofDomains.get(value);
      if (before === undefined || isOutside(node) || !constraint.includes(node.node)) continue;
      ofDomains.set(value, before + count);
    }
  }
  return {
    ignored,
    constraints: constraints.map((constraint, index) => ({
      ...constraint,
      counts: counts[index],
      weight: Math.log((counts[index]?.size ?? scored.length) + 2),
    })),
  };
}

/** Nodes without the label are together in one domain. */
function domainOf({ node }: NodeInfo, topologyKey: string): string {
  return ownField(node.metadata.labels, topologyKey) ?? '';
}

/** The more pods are in the node's domains already, the higher. */
export function scoreSpread(
  node: NodeInfo,
  { pod }: SchedulingContext,
  { constraints, ignored }: SoftSpread,
): number {
  if (ignored.has(node)) return 0;
  let score = 0;
  for (const constraint of constraints) {
    const value = ownField(node.node.metadata.labels, constraint.topologyKey);
    if (value === undefined) continue;
    const count = constraint.counts
      ? (constraint.counts.get(value) ?? 0)
      : countPods(node.pods, constraint, pod.pod.metadata.namespace);
    score += count * constraint.weight + (constraint.maxSkew - 1);
  }
  return Math.round(score);
}

/** The fewer, the better; nodes that are ignored get nothing. */
export function favourFewest(
  raw: readonly number[],
  feasible: readonly NodeInfo[],
  { ignored }: SoftSpread,
): readonly number[] {
  let lowest = Infinity;
  let highest = 0;
  for (const [index, score] of raw.entries()) {
    if (ignored.has(feasible[index]!)) continue;
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  return raw.map((score, index) => {
    if (ignored.has(feasible[index]!)) return 0;
    return highest === 0
      ? MAX_NODE_SCORE
      : Math.trunc((MAX_NODE_SCORE * (highest + lowest - score)) / highest);
  });
}

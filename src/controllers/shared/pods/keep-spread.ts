import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isPodActive, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { NodeLabels } from './node-labels.js';
import { DEFAULT_ZONE_LABEL } from './zone-first.js';

type ReadablePod = DeepReadonly<Pod>;

/**
 * The annotation for the choice of pods that go when it shrinks, on a Deployment, as a default on its Namespace, or on
 * what has pods without a Deployment.
 */
export const SCALE_DOWN = 'rollkeeper.dev/scale-down';
/** The same on a ReplicaSet of a Deployment, kept up to date by the Deployment controller. */
export const SCALE_DOWN_OF_OWNER = 'rollkeeper.dev/scale-down-of-owner';
/** A scale-down takes the pods that leave the others spread over zones and nodes. */
export const KEEP_SPREAD = 'keep-spread';

/** The places of pods, by one constraint. */
export interface Spread {
  /** Undefined: the pod does not count. */
  domainOf(pod: ReadablePod): string | undefined;
  /** How many pods each domain has. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * How the pods are spread, by the constraints of the template in their order, those that the scheduler must keep first; by zones, where
 * it has none. Empty where that is not asked for, or the labels of nodes are not known.
 * @param related the pods of all ReplicaSets of the same owner; of one without an owner its own
 */
export function spreadsOf(
  replicaSet: DeepReadonly<ReplicaSet>,
  related: readonly ReadablePod[],
  nodes: NodeLabels | undefined,
): readonly Spread[] {
  const name = controllerOf(replicaSet) ? SCALE_DOWN_OF_OWNER : SCALE_DOWN;
  if (replicaSet.metadata.annotations?.[name] !== KEEP_SPREAD || nodes?.availability !== 'known') return [];
  const active = related.filter(isPodActive);
  return constraintsOf(replicaSet).map(({ counts, topologyKey }) => {
    const domainOf = (pod: ReadablePod): string | undefined =>
      counts(pod) && pod.spec.nodeName ? nodes.valueOf(pod.spec.nodeName, topologyKey) : undefined;
    return { domainOf, counts: countIn(active, domainOf) };
  });
}

interface Constraint {
  readonly topologyKey: string;
  readonly counts: (pod: ReadablePod) => boolean;
}

function constraintsOf({ spec: { template } }: DeepReadonly<ReplicaSet>): readonly Constraint[] {
  const all = template?.spec?.topologySpreadConstraints ?? [];
  if (all.length === 0) return [{ topologyKey: DEFAULT_ZONE_LABEL, counts: () => true }];
  const isSoft = ({ whenUnsatisfiable }: (typeof all)[number]): boolean =>
    whenUnsatisfiable === 'ScheduleAnyway';
  const own = template?.metadata?.labels ?? {};
  return [...all.filter((each) => !isSoft(each)), ...all.filter(isSoft)].map((each) => {
    // One without a selector counts no pods.
    const selects = each.labelSelector && tryCompileLabelSelector(each.labelSelector);
    const keys = (each.matchLabelKeys ?? []).filter((key) => own[key] !== undefined);
    return {
      topologyKey: each.topologyKey,
      counts: ({ metadata: { labels = {} } }) =>
        selects?.(labels) === true && keys.every((key) => labels[key] === own[key]),
    };
  });
}

function countIn(pods: readonly ReadablePod[], domainOf: Spread['domainOf']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const domain = domainOf(pod);
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return counts;
}

/**
 * The `count` of `ranked` that go: tier by tier, and within one each time a pod of the domain that has most pods, in
 * doubt the first of the ranking. What that leaves is never less even than what the ranking alone leaves: by the first
 * constraint, where that makes no difference by the next.
 * @param ranked tier by tier, each in the order in which its pods would go otherwise
 */
export function chooseKeepingSpread(
  ranked: readonly (readonly ReadablePod[])[],
  count: number,
  spreads: readonly Spread[],
): readonly ReadablePod[] {
  const usual = ranked.flat().slice(0, count);
  const left = spreads.map((spread) => new Map(spread.counts));
  const chosen: ReadablePod[] = [];
  for (const tier of ranked) {
    const rest = [...tier];
    while (rest.length > 0 && chosen.length < count) {
      const [pod] = rest.splice(fullest(rest, spreads, left), 1);
      if (!pod) break;
      chosen.push(pod);
      takeFrom(left, spreads, pod);
    }
  }
  const usualLeft = spreads.map((spread) => new Map(spread.counts));
  for (const pod of usual) takeFrom(usualLeft, spreads, pod);
  return isMoreEven(usualLeft, left) ? usual : chosen;
}

type Counts = Map<string, number>;

/** The index of the first pod in the fullest domain. */
function fullest(pods: readonly ReadablePod[], spreads: readonly Spread[], left: readonly Counts[]): number {
  const fullness = (pod: ReadablePod): number[] =>
    spreads.map((spread, index) => left[index]?.get(spread.domainOf(pod) ?? '') ?? 0);
  let best = 0;
  let bestFullness = pods[0] ? fullness(pods[0]) : [];
  for (const [index, pod] of pods.entries()) {
    const own = fullness(pod);
    if (firstDifference(own, bestFullness) <= 0) continue;
    best = index;
    bestFullness = own;
  }
  return best;
}

function takeFrom(left: readonly Counts[], spreads: readonly Spread[], pod: ReadablePod): void {
  for (const [index, spread] of spreads.entries()) {
    const domain = spread.domainOf(pod);
    const counts = left[index];
    if (domain !== undefined && counts) counts.set(domain, (counts.get(domain) ?? 0) - 1);
  }
}

function isMoreEven(one: readonly Counts[], other: readonly Counts[]): boolean {
  return firstDifference(one.map(skewOf), other.map(skewOf)) < 0;
}

/** How many more pods the fullest domain has than the emptiest. */
export function skewOf(counts: ReadonlyMap<string, number>): number {
  const all = [...counts.values()];
  return all.length === 0 ? 0 : all.reduce((a, b) => Math.max(a, b)) - all.reduce((a, b) => Math.min(a, b));
}

function firstDifference(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

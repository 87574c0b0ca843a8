import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import {
  POD_DELETION_COST,
  isPodActive,
  isPodReady,
  ownField,
  parseDeletionCost,
} from '@rollkeeper/machinery/kubernetes';
import type { FirstToGo } from './first-to-go.js';
import { isNamed } from './first-to-go.js';
import type { Spread } from './keep-spread.js';
import { chooseKeepingSpread } from './keep-spread.js';
import { parseTimeMs, podReadySinceMs } from './pod-readiness.js';

type ReadablePod = DeepReadonly<Pod>;

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

interface RankedPod {
  readonly pod: ReadablePod;
  /** Active related pods on the same node, including itself. */
  readonly neighbours: number;
  readonly goesFirst: boolean;
  readonly isNamed: boolean;
}

/** A rule returns below 0 if `a` is deleted first, above 0 if `b` is, 0 if undecided. */
type Rule = (a: RankedPod, b: RankedPod, nowMs: number) => number;

/** The rules in order of precedence (Kubernetes: `ActivePodsWithRanks.Less`): first those of pods that are not ready. */
const UNREADY_FIRST: readonly Rule[] = [
  (a, b) => Number(isAssigned(a.pod)) - Number(isAssigned(b.pod)),
  (a, b) => phaseRank(a.pod) - phaseRank(b.pod),
  (a, b) => Number(isPodReady(a.pod)) - Number(isPodReady(b.pod)),
];

const cheapestFirst: Rule = (a, b) => deletionCost(a.pod) - deletionCost(b.pod);

const OTHER_RULES: readonly Rule[] = [
  (a, b) => b.neighbours - a.neighbours,
  (a, b, nowMs) =>
    isPodReady(a.pod) && isPodReady(b.pod)
      ? newestFirst(podReadySinceMs(a.pod), podReadySinceMs(b.pod), a.pod, b.pod, nowMs)
      : 0,
  (a, b) => maxRestarts(b.pod) - maxRestarts(a.pod),
  (a, b) => maxSidecarRestarts(b.pod) - maxSidecarRestarts(a.pod),
  (a, b, nowMs) =>
    newestFirst(
      parseTimeMs(a.pod.metadata.creationTimestamp),
      parseTimeMs(b.pod.metadata.creationTimestamp),
      a.pod,
      b.pod,
      nowMs,
    ),
];

const namedFirst: Rule = (a, b) => Number(b.isNamed) - Number(a.isNamed);

/** In a rollout zone by zone. */
const zoneFirst: Rule = (a, b) => Number(b.goesFirst) - Number(a.goesFirst);

/** The rules that say more than that one of several pods has to go. */
const FIRST_RULES = [...UNREADY_FIRST, namedFirst, zoneFirst, cheapestFirst];
const FIRST_RULES_OF_PEOPLE = [namedFirst, ...UNREADY_FIRST, zoneFirst, cheapestFirst];

interface Ranking {
  readonly pods: readonly ReadablePod[];
  /** Pods of all ReplicaSets of the same owner, to find pods doubled up on a node. */
  readonly related: readonly ReadablePod[];
  /** Before the other ready pods, in a rollout zone by zone. @default none */
  readonly goesFirst?: (pod: ReadablePod) => boolean;
  /** Named beforehand. @default none */
  readonly first?: FirstToGo;
  /** The domains over which the others should stay spread. @default nothing */
  readonly spreads?: readonly Spread[];
  readonly nowMs: number;
}

/** Chooses the `count` pods whose loss hurts least. */
export function podsToDelete(input: Ranking & { readonly count: number }): readonly ReadablePod[] {
  const { count, pods, spreads = [] } = input;
  if (count >= pods.length) return pods;
  const ranked = rank(input);
  if (spreads.length === 0) return ranked.slice(0, count).map(({ pod }) => pod);
  return chooseKeepingSpread(tiersOf(ranked, input), count, spreads);
}

/** All, in the order in which they go. */
export function rankForDeletion(input: Omit<Ranking, 'spreads'>): readonly ReadablePod[] {
  return rank(input).map(({ pod }) => pod);
}

function rank({ first, goesFirst, nowMs, pods, related }: Ranking): RankedPod[] {
  const perNode = activePerNode(related);
  const ranked = pods.map((pod) => ({
    pod,
    neighbours: perNode.get(pod.spec.nodeName ?? '') ?? 0,
    isNamed: first !== undefined && isNamed(first, pod),
    goesFirst: goesFirst?.(pod) === true,
  }));
  const rules = [...firstRulesFor(first), ...OTHER_RULES];
  return ranked.sort((a, b) => compare(a, b, rules, nowMs));
}

function firstRulesFor(first: FirstToGo | undefined): readonly Rule[] {
  return first?.beforeUnready ? FIRST_RULES_OF_PEOPLE : FIRST_RULES;
}

/** Between pods of one tier the first rules do not decide. */
function tiersOf(ranked: readonly RankedPod[], { first, nowMs }: Ranking): readonly ReadablePod[][] {
  const rules = firstRulesFor(first);
  const tiers: ReadablePod[][] = [];
  for (const [index, each] of ranked.entries()) {
    const before = ranked[index - 1];
    if (!before || compare(before, each, rules, nowMs) !== 0) tiers.push([]);
    tiers.at(-1)?.push(each.pod);
  }
  return tiers;
}

function compare(a: RankedPod, b: RankedPod, rules: readonly Rule[], nowMs: number): number {
  for (const rule of rules) {
    const order = rule(a, b, nowMs);
    if (order !== 0) return order;
  }
  return 0;
}

function activePerNode(pods: readonly ReadablePod[]): Map<string, number> {
  const perNode = new Map<string, number>();
  for (const pod of pods) {
    if (!isPodActive(pod)) continue;
    const node = pod.spec.nodeName ?? '';
    perNode.set(node, (perNode.get(node) ?? 0) + 1);
  }
  return perNode;
}

function isAssigned(pod: ReadablePod): boolean {
  return (pod.spec.nodeName ?? '') !== '';
}

function phaseRank(pod: ReadablePod): number {
  return ownField(PHASE_ORDER, pod.status?.phase ?? '') ?? 0;
}

/** 0 if the annotation is missing or not a 32-bit integer, which the API server would have refused. */
function deletionCost(pod: ReadablePod): number {
  return parseDeletionCost(pod.metadata.annotations?.[POD_DELETION_COST] ?? '') ?? 0;
}

function maxRestarts({ status }: ReadablePod): number {
  return mostRestarts(status?.containerStatuses ?? []);
}

/** Only init containers that always restart (Kubernetes 1.29 and newer); the others end before the pod counts. */
function maxSidecarRestarts({ spec, status }: ReadablePod): number {
  const isSidecar = ({ name }: { readonly name: string }): boolean =>
    spec.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always') ?? false;
  return mostRestarts(status?.initContainerStatuses?.filter(isSidecar) ?? []);
}

function mostRestarts(statuses: readonly { readonly restartCount: number }[]): number {
  return statuses.reduce((most, { restartCount }) => Math.max(most, restartCount), 0);
}

/**
 * Younger before older, but only by the order of magnitude of the age (its logarithm to base 2); within one the UID
 * decides, which is as good as random: always deleting the newest would keep all survivors on the nodes and in the
 * zones that were filled first (KEP-2185). A pod without the time is deleted first.
 */
function newestFirst(
  aMs: number | undefined,
  bMs: number | undefined,
  a: ReadablePod,
  b: ReadablePod,
  nowMs: number,
): number {
  if (aMs === bMs) return 0;
  if (aMs === undefined || bMs === undefined) return aMs === undefined ? -1 : 1;
  const difference = ageMagnitude(aMs, nowMs) - ageMagnitude(bMs, nowMs);
  if (difference !== 0) return difference;
  return (a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1;
}

/** Integer part of log2 of the age in nanoseconds; -1 for now or the future. */
function ageMagnitude(sinceMs: number, nowMs: number): number {
  const ageMs = nowMs - sinceMs;
  return ageMs > 0 ? Math.floor(Math.log2(ageMs * 1e6)) : -1;
}

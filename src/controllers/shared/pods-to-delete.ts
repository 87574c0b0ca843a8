import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import {
  POD_DELETION_COST,
  isPodActive,
  isPodReady,
  ownField,
  parseDeletionCost,
} from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs, podReadySinceMs } from './pod-readiness.js';

type ReadablePod = DeepReadonly<Pod>;

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

interface RankedPod {
  readonly pod: ReadablePod;
  /** Active related pods on the same node, including itself. */
  readonly neighbours: number;
  readonly goesFirst: boolean;
}

/** A rule returns below 0 if `a` is deleted first, above 0 if `b` is, 0 if undecided. */
type Rule = (a: RankedPod, b: RankedPod, nowMs: number) => number;

/** The rules in order of precedence (Kubernetes: `ActivePodsWithRanks.Less`). */
const RULES: readonly Rule[] = [
  (a, b) => Number(isAssigned(a.pod)) - Number(isAssigned(b.pod)),
  (a, b) => phaseRank(a.pod) - phaseRank(b.pod),
  (a, b) => Number(isPodReady(a.pod)) - Number(isPodReady(b.pod)),
  // Not of Kubernetes, and false for all unless a rollout goes zone by zone.
  (a, b) => Number(b.goesFirst) - Number(a.goesFirst),
  (a, b) => deletionCost(a.pod) - deletionCost(b.pod),
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

/**
 * Chooses the `count` pods whose loss hurts least.
 * @param related pods of all ReplicaSets of the same owner, to find pods doubled up on a node
 * @param goesFirst before the other ready pods, in a rollout zone by zone
 */
export function podsToDelete(input: {
  readonly pods: readonly ReadablePod[];
  readonly related: readonly ReadablePod[];
  readonly count: number;
  readonly goesFirst?: (pod: ReadablePod) => boolean;
  readonly nowMs: number;
}): readonly ReadablePod[] {
  const { pods, related, count, goesFirst, nowMs } = input;
  if (count >= pods.length) return pods;
  const perNode = activePerNode(related);
  const ranked = pods.map((pod) => ({
    pod,
    neighbours: perNode.get(pod.spec.nodeName ?? '') ?? 0,
    goesFirst: goesFirst?.(pod) === true,
  }));
  ranked.sort((a, b) => compare(a, b, nowMs));
  return ranked.slice(0, count).map(({ pod }) => pod);
}

function compare(a: RankedPod, b: RankedPod, nowMs: number): number {
  for (const rule of RULES) {
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

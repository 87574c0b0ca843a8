import {
  NANOS,
  isNodeSelected,
  isPodActive,
  nanosOf,
  requestsInUse,
  tolerates,
} from '@rollkeeper/machinery/kubernetes';
import type { Amount, DeepReadonly, Node, Pod, Taint } from '@rollkeeper/machinery/kubernetes';

/** Resources that a pod takes of a node. */
export interface Requests {
  readonly cpu: number;
  readonly memory: number;
}

/** Resources that the pods of a node take together. */
export interface NodeLoad extends Requests {
  readonly pods: number;
}

export interface Candidate {
  readonly node: DeepReadonly<Node>;
  readonly load: NodeLoad;
  /** Number of its pods that share the controller of the pod being scheduled. */
  readonly siblings: number;
}

export type SchedulingDecision = { readonly node: string } | { readonly unschedulable: string };

type ReadablePod = DeepReadonly<Pod>;

/** Whether the pod is ours to schedule: no gates, and not another scheduler's. */
export function wantsScheduling(pod: ReadablePod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec;
  return (
    !nodeName && schedulerName === 'default-scheduler' && schedulingGates.length === 0 && isPodActive(pod)
  );
}

export interface SchedulingOptions {
  /** Why the pod's volumes exclude a node. @default no obstacle */
  readonly volumeObstacleOn?: (node: DeepReadonly<Node>) => string | undefined;
  /** The node chosen earlier, which the pod's volumes wait for. @default none */
  readonly preferred?: string | undefined;
}

/**
 * Picks, among the feasible nodes, the one with the fewest pods of the same controller; then the one with the fewest
 * pods; then the first. So a Deployment's pods are spread regardless of other pods. Considers cordons, taints,
 * nodeSelector, required node affinity, requests and volumes; other affinities and topology spread are ignored.
 */
export function decideScheduling(
  pod: ReadablePod,
  candidates: readonly Candidate[],
  { preferred, volumeObstacleOn = () => undefined }: SchedulingOptions = {},
): SchedulingDecision {
  const requests = requestsOf(pod);
  const obstacles = new Map<string, number>();
  let best: Candidate | undefined;
  for (const candidate of candidates) {
    const { node } = candidate;
    const found = obstaclesOf(pod, requests, candidate);
    const volumes = found.length === 0 ? volumeObstacleOn(node) : undefined;
    if (volumes !== undefined) found.push(volumes);
    for (const obstacle of found) obstacles.set(obstacle, (obstacles.get(obstacle) ?? 0) + 1);
    if (found.length > 0) continue;
    if (node.metadata.name === preferred) return { node: preferred };
    if (!best || isEmptier(candidate, best)) best = candidate;
  }
  if (best) return { node: best.node.metadata.name };
  const reasons = [...obstacles].map(([text, count]) => `${count} ${text}`).sort();
  return refusalBy(candidates, reasons.join(', '));
}

function isEmptier(one: Candidate, other: Candidate): boolean {
  if (one.siblings !== other.siblings) return one.siblings < other.siblings;
  return one.load.pods < other.load.pods;
}

/** The message for a pod that no node accepts, for these reasons. */
export function refusalBy(candidates: readonly Candidate[], reasons: string): SchedulingDecision {
  if (candidates.length === 0) return { unschedulable: 'no nodes available to schedule pods' };
  return { unschedulable: `0/${candidates.length} nodes are available: ${reasons}.` };
}

/** What a pod takes of a node. */
export function requestsOf(pod: ReadablePod): Requests {
  const { cpu, memory } = requestsInUse(pod);
  return { cpu: valueOf(cpu), memory: valueOf(memory) };
}

/** CPUs, bytes or counts as a number: precise enough for a scheduler. */
function valueOf(amount: Amount | undefined): number {
  return Number(nanosOf(amount)) / Number(NANOS);
}

/** In kube-scheduler's words. */
function obstaclesOf(pod: ReadablePod, requests: Requests, { node, load }: Candidate): string[] {
  const found: string[] = [];
  if (node.spec?.unschedulable === true && !isTolerated(pod, CORDON))
    found.push('node(s) were unschedulable');
  const taint = node.spec?.taints?.find((each) => repels(each) && !isTolerated(pod, each));
  if (taint && taint.key !== CORDON.key) {
    found.push(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  }
  if (!isNodeSelected(pod.spec, node)) found.push("node(s) didn't match Pod's node affinity/selector");
  const { cpu, memory, pods } = node.status?.allocatable ?? {};
  if (load.pods + 1 > valueOf(pods)) found.push('Too many pods');
  if (requests.cpu > 0 && load.cpu + requests.cpu > valueOf(cpu)) found.push('Insufficient cpu');
  if (requests.memory > 0 && load.memory + requests.memory > valueOf(memory)) {
    found.push('Insufficient memory');
  }
  return found;
}

function repels({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

/** A cordon is treated as the taint that it causes. */
const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function isTolerated({ spec }: ReadablePod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

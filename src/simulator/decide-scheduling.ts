import { NANOS, isNodeSelected, isPodActive, nanosOf, tolerates } from '@rollkeeper/machinery/kubernetes';
import type { Amount, DeepReadonly, Node, Pod, Taint } from '@rollkeeper/machinery/kubernetes';

/** What a pod takes of a node. */
export interface Requests {
  readonly cpu: number;
  readonly memory: number;
}

/** What the pods of a node take together. */
export interface NodeLoad extends Requests {
  readonly pods: number;
}

export interface Candidate {
  readonly node: DeepReadonly<Node>;
  readonly load: NodeLoad;
  /** How many of its pods have the controller of the pod that is placed. */
  readonly siblings: number;
}

export type SchedulingDecision = { readonly node: string } | { readonly unschedulable: string };

type ReadablePod = DeepReadonly<Pod>;

/** Pods that are ours to place. Gates and other schedulers' pods are left to whom they belong. */
export function wantsScheduling(pod: ReadablePod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec;
  return (
    !nodeName && schedulerName === 'default-scheduler' && schedulingGates.length === 0 && isPodActive(pod)
  );
}

export interface SchedulingOptions {
  /** Why the pod's volumes keep it from a node. @default nothing does */
  readonly volumeObstacleOn?: (node: DeepReadonly<Node>) => string | undefined;
  /** The node that has been chosen before, which the pod's volumes wait for. @default none */
  readonly preferred?: string | undefined;
}

/**
 * The node with the fewest pods of the same controller among those that take the pod; of several the one with the fewest pods, and of
 * these the first. So the pods of a Deployment are spread, whatever else the nodes have. Looks at cordons, taints,
 * nodeSelector, what node affinity requires, requests and volumes; other affinities and topology spread are not looked at.
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

/** What is told of a pod that none of the nodes takes, for these reasons. */
export function refusalBy(candidates: readonly Candidate[], reasons: string): SchedulingDecision {
  if (candidates.length === 0) return { unschedulable: 'no nodes available to schedule pods' };
  return { unschedulable: `0/${candidates.length} nodes are available: ${reasons}.` };
}

/** What all containers of a pod ask for together. */
export function requestsOf(pod: ReadablePod): Requests {
  let cpu = 0;
  let memory = 0;
  for (const { resources } of pod.spec.containers) {
    cpu += valueOf(resources?.requests?.['cpu']);
    memory += valueOf(resources?.requests?.['memory']);
  }
  return { cpu, memory };
}

/** CPUs, bytes or pieces: as a number, near enough for a scheduler. */
function valueOf(amount: Amount | undefined): number {
  return Number(nanosOf(amount)) / Number(NANOS);
}

/** In the words of kube-scheduler. */
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

/** A cordon counts as the taint that it becomes. */
const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function isTolerated({ spec }: ReadablePod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

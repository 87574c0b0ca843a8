import type { DeepReadonly, Node, Pod } from '../base/kubernetes/index.js';
import { parseQuantity } from './quantity.js';

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
}

export type SchedulingDecision = { readonly node: string } | { readonly unschedulable: string };

type ReadablePod = DeepReadonly<Pod>;
type Taint = DeepReadonly<NonNullable<NonNullable<Node['spec']>['taints']>[number]>;

/** Pods that are ours to place. Gates and other schedulers' pods are left to whom they belong. */
export function wantsScheduling(pod: ReadablePod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec;
  return (
    !nodeName &&
    schedulerName === 'default-scheduler' &&
    schedulingGates.length === 0 &&
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.phase !== 'Failed' &&
    pod.status?.phase !== 'Succeeded'
  );
}

/**
 * The node with the fewest pods among those that take the pod; of several the first. Looks at cordons, taints,
 * nodeSelector and requests; affinity and topology spread are not looked at.
 */
export function decideScheduling(pod: ReadablePod, candidates: readonly Candidate[]): SchedulingDecision {
  const requests = requestsOf(pod);
  const obstacles = new Map<string, number>();
  let best: Candidate | undefined;
  for (const candidate of candidates) {
    const found = obstaclesOf(pod, requests, candidate);
    for (const obstacle of found) obstacles.set(obstacle, (obstacles.get(obstacle) ?? 0) + 1);
    if (found.length === 0 && (!best || candidate.load.pods < best.load.pods)) best = candidate;
  }
  if (best) return { node: best.node.metadata.name };
  const reasons = [...obstacles].map(([text, count]) => `${count} ${text}`).sort();
  const why = reasons.length === 0 ? 'no nodes available to schedule pods' : `${reasons.join(', ')}.`;
  return {
    unschedulable: candidates.length === 0 ? why : `0/${candidates.length} nodes are available: ${why}`,
  };
}

/** What all containers of a pod ask for together. */
export function requestsOf(pod: ReadablePod): Requests {
  let cpu = 0;
  let memory = 0;
  for (const { resources } of pod.spec.containers ?? []) {
    cpu += parseQuantity(resources?.requests?.['cpu']);
    memory += parseQuantity(resources?.requests?.['memory']);
  }
  return { cpu, memory };
}

/** In the words of kube-scheduler. */
function obstaclesOf(pod: ReadablePod, requests: Requests, { node, load }: Candidate): string[] {
  const found: string[] = [];
  if (node.spec?.unschedulable === true) found.push('node(s) were unschedulable');
  const taint = node.spec?.taints?.find((each) => repels(each) && !tolerates(pod, each));
  if (taint && taint.key !== 'node.kubernetes.io/unschedulable') {
    found.push(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  }
  const wanted = Object.entries(pod.spec.nodeSelector ?? {});
  if (wanted.some(([name, value]) => node.metadata.labels?.[name] !== value)) {
    found.push("node(s) didn't match Pod's node affinity/selector");
  }
  const { cpu, memory, pods } = node.status?.allocatable ?? {};
  if (load.pods + 1 > parseQuantity(pods)) found.push('Too many pods');
  if (requests.cpu > 0 && load.cpu + requests.cpu > parseQuantity(cpu)) found.push('Insufficient cpu');
  if (requests.memory > 0 && load.memory + requests.memory > parseQuantity(memory)) {
    found.push('Insufficient memory');
  }
  return found;
}

function repels({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

function tolerates(pod: ReadablePod, taint: Taint): boolean {
  return (pod.spec.tolerations ?? []).some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (!effect || effect === taint.effect) &&
      (key ? key === taint.key : operator === 'Exists') &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );
}

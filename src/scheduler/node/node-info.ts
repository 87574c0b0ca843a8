import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { add, subtract } from '../framework/amounts.js';
import type {
  CpuAndMemory,
  ImageState,
  NodeInfo,
  PodInfo,
  ReadableNode,
  ResourceAmounts,
} from '../framework/node-info.js';
import { amountOf } from './pod-requests.js';

const NONE: readonly never[] = [];
const NO_IMAGES: ReadonlyMap<string, ImageState> = new Map();

interface NodeInfoParts {
  readonly pods?: Iterable<PodInfo>;
  readonly images?: ReadonlyMap<string, ImageState>;
  readonly generation?: number;
}

export function nodeInfoOf(
  node: ReadableNode,
  { generation = 0, images = NO_IMAGES, pods = NONE }: NodeInfoParts = {},
): NodeInfo {
  const all = [...pods];
  const requested = new Map<string, Int64>();
  let nonZeroRequested: CpuAndMemory = { cpu: 0, memory: 0 };
  for (const pod of all) {
    change(requested, pod.requests, add);
    nonZeroRequested = changeNonZero(nonZeroRequested, pod.nonZeroRequests, add);
  }
  return {
    node,
    name: node.metadata.name,
    pods: all,
    podsWithAffinity: all.filter(statesAffinity),
    podsWithRequiredAntiAffinity: all.filter(statesRequiredAntiAffinity),
    allocatable: allocatableOf(node),
    requested,
    nonZeroRequested,
    hostPorts: all.flatMap(({ hostPorts }) => hostPorts),
    images,
    generation,
  };
}

function allocatableOf({ status }: ReadableNode): ResourceAmounts {
  const amounts = new Map<string, Int64>();
  for (const [resource, quantity] of Object.entries(status?.allocatable ?? {}))
    amounts.set(resource, amountOf(resource, quantity));
  return amounts;
}

/** The node with this pod on it too. */
export function withPod(info: NodeInfo, pod: PodInfo, generation = info.generation): NodeInfo {
  return {
    ...info,
    pods: [...info.pods, pod],
    podsWithAffinity: statesAffinity(pod) ? [...info.podsWithAffinity, pod] : info.podsWithAffinity,
    podsWithRequiredAntiAffinity: statesRequiredAntiAffinity(pod)
      ? [...info.podsWithRequiredAntiAffinity, pod]
      : info.podsWithRequiredAntiAffinity,
    requested: changed(info.requested, pod.requests, add),
    nonZeroRequested: changeNonZero(info.nonZeroRequested, pod.nonZeroRequests, add),
    hostPorts: pod.hostPorts.length > 0 ? [...info.hostPorts, ...pod.hostPorts] : info.hostPorts,
    generation,
  };
}

/** The node without the pod, which is one of its own; the same node if it is not there. */
export function withoutPod(info: NodeInfo, pod: PodInfo, generation = info.generation): NodeInfo {
  const place = info.pods.indexOf(pod);
  if (place < 0) return info;
  const isOther = (each: PodInfo): boolean => each !== pod;
  const pods = info.pods.toSpliced(place, 1);
  return {
    ...info,
    pods,
    podsWithAffinity: statesAffinity(pod) ? info.podsWithAffinity.filter(isOther) : info.podsWithAffinity,
    podsWithRequiredAntiAffinity: statesRequiredAntiAffinity(pod)
      ? info.podsWithRequiredAntiAffinity.filter(isOther)
      : info.podsWithRequiredAntiAffinity,
    requested: changed(info.requested, pod.requests, subtract),
    nonZeroRequested: changeNonZero(info.nonZeroRequested, pod.nonZeroRequests, subtract),
    hostPorts: pod.hostPorts.length > 0 ? pods.flatMap(({ hostPorts }) => hostPorts) : info.hostPorts,
    generation,
  };
}

type Operation = (one: Int64, other: Int64) => Int64;

function changed(amounts: ResourceAmounts, by: ResourceAmounts, operation: Operation): ResourceAmounts {
  if (by.size === 0) return amounts;
  const copy = new Map(amounts);
  change(copy, by, operation);
  return copy;
}

function change(amounts: Map<string, Int64>, by: ResourceAmounts, operation: Operation): void {
  for (const [resource, amount] of by) amounts.set(resource, operation(amounts.get(resource) ?? 0, amount));
}

function changeNonZero(amounts: CpuAndMemory, by: CpuAndMemory, operation: Operation): CpuAndMemory {
  return { cpu: operation(amounts.cpu, by.cpu), memory: operation(amounts.memory, by.memory) };
}

function statesAffinity({ pod }: PodInfo): boolean {
  const { affinity } = pod.spec;
  return affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined;
}

function statesRequiredAntiAffinity({ affinity }: PodInfo): boolean {
  return affinity.requiredAnti.length > 0;
}

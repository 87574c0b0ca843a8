import {
  formatQuantity,
  isPodFinished,
  nanosOf,
  totalOfPod,
  usagesOfNode,
} from '@rollkeeper/machinery/kubernetes';
import type { Amounts, DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { CompiledNodeProfile, EvictionSignal } from './node-profile.js';
import type { NodeVerdict } from './node-verdict.js';

type ReadablePod = DeepReadonly<Pod>;
export type StarvedResource = 'memory' | 'ephemeral-storage';

/** A resource of which a node has less left than its threshold, in billionths of a byte. */
export interface Starvation {
  readonly resource: StarvedResource;
  readonly threshold: bigint;
  readonly available: bigint;
}

const SIGNALS: Readonly<Record<StarvedResource, EvictionSignal>> = {
  memory: 'memory.available',
  'ephemeral-storage': 'nodefs.available',
};
/** In the order in which a kubelet sees to them. */
export const STARVED_RESOURCES: readonly StarvedResource[] = ['memory', 'ephemeral-storage'];
/** Priority from which on a pod is critical to its cluster. Source: scheduling.SystemCriticalPriority. */
const CRITICAL_PRIORITY = 2_000_000_000;

export interface NodeUsage {
  readonly capacity: Amounts;
  /** The amounts that are used beside the pods. */
  readonly system: Amounts;
  readonly pods: readonly ReadablePod[];
  readonly evictionHard: CompiledNodeProfile['evictionHard'];
}

/** Whether a node has enough of a resource left. Source: thresholdsMet in pkg/kubelet/eviction. */
export function decideStarvation(resource: StarvedResource, usage: NodeUsage): Starvation | undefined {
  const { capacity, evictionHard, pods, system } = usage;
  const has = nanosOf(capacity[resource]);
  const used = pods.reduce((sum, pod) => sum + usedBy(pod, resource), nanosOf(system[resource]));
  const threshold = thresholdOf(evictionHard[SIGNALS[resource]], has);
  const available = has > used ? has - used : 0n;
  return available < threshold ? { resource, threshold, available } : undefined;
}

function thresholdOf(text: string, capacity: bigint): bigint {
  const percent = /^(.+)%$/.exec(text)?.[1];
  if (percent === undefined) return nanosOf(text);
  return (capacity * BigInt(Math.round(Number(percent) * 100))) / 10_000n;
}

function usedBy(pod: ReadablePod, resource: StarvedResource): bigint {
  if (isPodFinished(pod)) return 0n;
  return usagesOfNode(pod, resource).reduce((sum, { used }) => sum + used, 0n);
}

export function isCriticalPod({ spec }: ReadablePod): boolean {
  return (spec.priority ?? 0) >= CRITICAL_PRIORITY;
}

/** A pod of which nothing is requested and nothing limited. */
export function isBestEffort({ spec, status }: ReadablePod): boolean {
  if (status?.qosClass) return status.qosClass === 'BestEffort';
  return ['requests' as const, 'limits' as const].every((part) =>
    Object.entries(totalOfPod(spec, part)).every(([, amount]) => nanosOf(amount) === 0n),
  );
}

/**
 * The pod that is evicted first: one that uses more than it requested before others, then of lower priority, then by how
 * much it uses beyond. Source: rankMemoryPressure and rankDiskPressureFunc in pkg/kubelet/eviction/helpers.go.
 */
export function decideVictim(
  pods: readonly ReadablePod[],
  resource: StarvedResource,
): ReadablePod | undefined {
  const ranked = pods
    .filter((pod) => !isPodFinished(pod) && pod.status?.startTime !== undefined && !isCriticalPod(pod))
    .map((pod) => {
      const beyond = usedBy(pod, resource) - nanosOf(totalOfPod(pod.spec, 'requests')[resource]);
      return { pod, beyond, priority: pod.spec.priority ?? 0 };
    })
    .toSorted((a, b) => {
      if (a.beyond > 0n !== b.beyond > 0n) return a.beyond > 0n ? -1 : 1;
      if (a.priority !== b.priority) return a.priority - b.priority;
      return a.beyond === b.beyond ? 0 : a.beyond > b.beyond ? -1 : 1;
    });
  return ranked[0]?.pod;
}

/** Why a pod is evicted, in the kubelet's words. Source: evictionMessage in pkg/kubelet/eviction/helpers.go. */
export function evictionVerdict(
  pod: ReadablePod,
  resource: StarvedResource,
  starvation: Starvation | undefined,
): NodeVerdict {
  const threshold = starvation
    ? `Threshold quantity: ${bytes(starvation.threshold)}, available: ${bytes(starvation.available)}. `
    : '';
  const containers = usagesOfNode(pod, resource).flatMap(({ container, used }) => {
    const request = nanosOf(container.resources?.requests?.[resource]);
    if (used <= request) return [];
    const facts = `was using ${bytes(used)}, request is ${bytes(request)}`;
    return [`Container ${container.name} ${facts}, has larger consumption of ${resource}. `];
  });
  return {
    reason: 'Evicted',
    message: `The node was low on resource: ${resource}. ${threshold}${containers.join('')}`,
    isDisruption: true,
  };
}

function bytes(nanos: bigint): string {
  return formatQuantity({ nanos, format: 'BinarySI' });
}

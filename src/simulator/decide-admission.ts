import {
  NANOS,
  isNodeSelected,
  nanosOf,
  pickAmounts,
  tolerates,
  totalOfPod,
} from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { isBestEffort, isCriticalPod } from './decide-pressure.js';
import type { NodeRoom } from './decide-resize.js';
import type { NodeTrouble } from './node-object.js';
import type { NodeVerdict } from './node-verdict.js';
import { isConditionTrue } from './pod-conditions.js';

type ReadablePod = DeepReadonly<Pod>;

export interface AdmissionFacts {
  readonly node: DeepReadonly<Node>;
  readonly troubles: ReadonlySet<NodeTrouble>;
  /** What the node's other pods leave. */
  readonly room: () => NodeRoom | undefined;
  /** Pods on the node, without this one. */
  readonly podsThere: () => number;
}

const PRESSURES = [
  ['memory-pressure', 'MemoryPressure'],
  ['disk-pressure', 'DiskPressure'],
  ['pid-pressure', 'PIDPressure'],
] as const;
const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;

/**
 * Why a node does not take a pod that is bound to it. A pod that a scheduler has bound fits: that is not judged twice.
 * Source: the admit handlers of k/k pkg/kubelet, in their order.
 */
export function decideAdmission(pod: ReadablePod, facts: AdmissionFacts): NodeVerdict | undefined {
  const { troubles } = facts;
  if (troubles.has('shutdown'))
    return { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' };
  const conditions = PRESSURES.filter(([trouble]) => troubles.has(trouble)).map(([, type]) => type);
  if (conditions.length > 0 && !isTakenUnder(conditions, pod))
    return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
  return isConditionTrue(pod, 'PodScheduled') ? undefined : misfit(pod, facts);
}

/** Source: Admit in pkg/kubelet/eviction/eviction_manager.go. */
function isTakenUnder(conditions: readonly string[], pod: ReadablePod): boolean {
  if (isCriticalPod(pod)) return true;
  if (conditions.length > 1 || conditions[0] !== 'MemoryPressure') return false;
  const { tolerations = [] } = pod.spec;
  return !isBestEffort(pod) || tolerations.some((toleration) => tolerates(toleration, MEMORY_TAINT));
}

/** Source: pkg/kubelet/lifecycle/predicate.go. */
function misfit(pod: ReadablePod, { node, podsThere, room }: AdmissionFacts): NodeVerdict | undefined {
  if (!isNodeSelected(pod.spec, node))
    return {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    };
  const most = nanosOf(node.status?.allocatable?.['pods']) / NANOS;
  const there = BigInt(podsThere());
  if (there + 1n > most) return lacking('pods', 1n, there, most);
  const wanted = pickAmounts(totalOfPod(pod.spec, 'requests'), (_name, amount) => nanosOf(amount) > 0n);
  if (Object.keys(wanted).length === 0) return undefined;
  const left = room();
  if (!left) return undefined;
  for (const [name, amount] of Object.entries(wanted)) {
    const unit = name === 'cpu' ? NANOS / 1000n : NANOS;
    const requested = nanosOf(amount) / unit;
    const used = nanosOf(left.taken[name]) / unit;
    const capacity = nanosOf(left.allocatable[name]) / unit;
    if (requested + used > capacity) return lacking(name, requested, used, capacity);
  }
  return undefined;
}

function lacking(name: string, requested: bigint, used: bigint, capacity: bigint): NodeVerdict {
  const facts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${facts}` };
}

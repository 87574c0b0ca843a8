import {
  NANOS,
  isNodeSelected,
  nanosOf,
  pickAmounts,
  tolerates,
  totalOfPod,
  isSidecar,
} from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { isBestEffort, isCriticalPod } from './decide-pressure.js';
import type { NodeRoom } from './decide-resize.js';
import type { NodeTrouble } from './node-object.js';
import type { NodeVerdict } from './node-verdict.js';
import { isConditionTrue } from './pod-conditions.js';

type ReadablePod = DeepReadonly<Pod>;

interface AdmissionFacts {
  readonly node: DeepReadonly<Node>;
  readonly troubles: ReadonlySet<NodeTrouble>;
  /** The room that the node's other pods leave. */
  readonly room: () => NodeRoom | undefined;
  /** Pods on the node that have not ended, without this one. */
  readonly neighbours: () => readonly ReadablePod[];
}

const PRESSURES = [
  ['memory-pressure', 'MemoryPressure'],
  ['disk-pressure', 'DiskPressure'],
  ['pid-pressure', 'PIDPressure'],
] as const;
const OS_LABEL = 'kubernetes.io/os';
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
function misfit(pod: ReadablePod, { neighbours, node, room }: AdmissionFacts): NodeVerdict | undefined {
  if (pod.spec.os?.name !== undefined && pod.spec.os.name !== (node.metadata.labels?.[OS_LABEL] ?? 'linux'))
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    };
  if (!isNodeSelected(pod.spec, node))
    return {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    };
  const most = nanosOf(node.status?.allocatable?.['pods']) / NANOS;
  const others = neighbours();
  const there = BigInt(others.length);
  if (there + 1n > most) return lacking('pods', 1n, there, most);
  return lackingResource(pod, room) ?? portMisfit(pod, others) ?? taintMisfit(pod, node);
}

function lackingResource(pod: ReadablePod, room: AdmissionFacts['room']): NodeVerdict | undefined {
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

function portMisfit(pod: ReadablePod, others: readonly ReadablePod[]): NodeVerdict | undefined {
  if (!wantsTakenPort(pod, others)) return undefined;
  const why = "node(s) didn't have free ports for the requested pod ports";
  return { reason: 'NodePorts', message: `Predicate NodePorts failed: ${why}` };
}

/** A kubelet only looks at the taints that would evict the pod. */
function taintMisfit(pod: ReadablePod, { spec }: DeepReadonly<Node>): NodeVerdict | undefined {
  const { tolerations = [] } = pod.spec;
  const isTolerated = (spec?.taints ?? [])
    .filter(({ effect }) => effect === 'NoExecute')
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
  if (isTolerated) return undefined;
  const why = "node(s) had taints that the pod didn't tolerate";
  return { reason: 'TaintToleration', message: `Predicate TaintToleration failed: ${why}` };
}

function lacking(name: string, requested: bigint, used: bigint, capacity: bigint): NodeVerdict {
  const facts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${facts}` };
}

/** Whether a pod asks for a port of the node that another pod there has. Source: k/k pkg/scheduler/framework/types.go. */
function wantsTakenPort(pod: ReadablePod, others: readonly ReadablePod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const taken = new Map<string, Set<string>>();
  for (const { address, port } of others.flatMap(hostPortsOf))
    taken.set(port, (taken.get(port) ?? new Set()).add(address));
  return wanted.some(({ address, port }) => {
    const addresses = taken.get(port);
    return addresses !== undefined && (address === ANY || addresses.has(ANY) || addresses.has(address));
  });
}

const ANY = '0.0.0.0';

function hostPortsOf({ spec }: ReadablePod): { readonly address: string; readonly port: string }[] {
  const sidecars = (spec.initContainers ?? []).filter(isSidecar);
  return [...sidecars, ...spec.containers]
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostIP, hostPort = 0, protocol = 'TCP' }) =>
      hostPort > 0 ? [{ address: hostIP || ANY, port: `${protocol} ${hostPort}` }] : [],
    );
}

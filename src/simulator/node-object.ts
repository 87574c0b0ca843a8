import { nanosOf, transitionTime } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339, toRfc3339Micro } from '@rollkeeper/machinery/clock';
import type { Amounts, DeepReadonly, Lease, Node } from '@rollkeeper/machinery/kubernetes';
import { CAPACITY_ANNOTATION, amountsAnnotation } from './node-behaviour.js';
import type { NodeBehaviour } from './node-behaviour.js';
import { profileOf } from './node-profile.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import { nodeAddressOf, podCidrOf } from './pod-addresses.js';

export const NODE_LEASE_NAMESPACE = 'kube-node-lease';
const KUBELET_VERSION = 'v1.36.2+rollkeeper';

export type NodeStatus = NonNullable<Node['status']>;

export function nodeName(index: number): string {
  return `node-${index}`;
}

/** The troubles of a node, as its kubelet reports them. */
export type NodeTrouble = Exclude<NodeBehaviour, 'silent' | 'gone' | 'network-unavailable'>;

/** The state that a node reports. */
interface NodeState {
  readonly nowMs: number;
  /** @default it is well */
  readonly troubles?: ReadonlySet<NodeTrouble>;
  /** The Node up to now: the times of conditions that do not change are kept. @default there is none */
  readonly before?: DeepReadonly<Pick<Node, 'metadata' | 'status'>>;
}

/** The Node that a kubelet registers. */
export function newNode(index: number, options: CompiledNodeSimulatorOptions, nowMs: number): Node {
  const name = nodeName(index);
  const { annotations, labels, taints } = profileOf(index, options.profiles);
  const metadata = {
    name,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'node.rollkeeper.dev/simulated': 'true',
      ...labels,
    },
    annotations: { 'node.alpha.kubernetes.io/ttl': '0', ...annotations },
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata,
    spec: {
      podCIDR: podCidrOf(index),
      podCIDRs: [podCidrOf(index)],
      providerID: `rollkeeper://${name}`,
      ...(taints.length > 0 && { taints: taints.map((taint) => ({ ...taint })) }),
    },
    status: nodeStatus(index, options, { nowMs, before: { metadata } }),
  };
}

/** The status that a kubelet reports. */
export function nodeStatus(
  index: number,
  options: CompiledNodeSimulatorOptions,
  state: NodeState,
): NodeStatus {
  return {
    addresses: [
      { type: 'InternalIP', address: nodeAddressOf(index) },
      { type: 'Hostname', address: nodeName(index) },
    ],
    ...nodeResources(index, options, state.before),
    conditions: nodeConditions(state),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: 'amd64',
      bootID: `simulated-${nodeName(index)}`,
      containerRuntimeVersion: 'simulated://1.0.0',
      kernelVersion: '6.1.0-simulated',
      kubeProxyVersion: '',
      kubeletVersion: KUBELET_VERSION,
      machineID: `simulated-${nodeName(index)}`,
      operatingSystem: 'linux',
      osImage: 'Rollkeeper simulated node',
      systemUUID: `simulated-${nodeName(index)}`,
    },
  };
}

/** The resources of a node: by the options, its profile, and its annotation, which may change at any time. */
function nodeResources(
  index: number,
  { cpus, memoryGiB, podsPerNode, profiles }: CompiledNodeSimulatorOptions,
  node: DeepReadonly<Pick<Node, 'metadata'>> | undefined,
): { readonly capacity: Record<string, string>; readonly allocatable: Record<string, string> } {
  const profile = profileOf(index, profiles);
  const now = amountsAnnotation(node, CAPACITY_ANNOTATION);
  const capacity = asTexts({
    cpu: String(cpus),
    memory: `${memoryGiB}Gi`,
    'ephemeral-storage': '1Ti',
    pods: String(podsPerNode),
    ...profile.capacity,
    ...now,
  });
  return { capacity, allocatable: asTexts({ ...capacity, ...profile.allocatable, ...now }) };
}

function asTexts(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
}

type ConditionValue = readonly [status: 'True' | 'False', reason: string, message: string];

/** Source: pkg/kubelet/nodestatus/setters.go. */
function conditionValues(
  troubles: ReadonlySet<NodeTrouble>,
): readonly (readonly [type: string, ...ConditionValue])[] {
  const choose = (trouble: NodeTrouble, ill: ConditionValue, well: ConditionValue): ConditionValue =>
    troubles.has(trouble) ? ill : well;
  const ready: ConditionValue = choose(
    'shutdown',
    ['False', 'KubeletNotReady', 'node is shutting down'],
    choose(
      'not-ready',
      ['False', 'KubeletNotReady', 'container runtime is down'],
      ['True', 'KubeletReady', 'kubelet is posting ready status'],
    ),
  );
  return [
    [
      'MemoryPressure',
      ...choose(
        'memory-pressure',
        ['True', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
        ['False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
      ),
    ],
    [
      'DiskPressure',
      ...choose(
        'disk-pressure',
        ['True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'],
        ['False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
      ),
    ],
    [
      'PIDPressure',
      ...choose(
        'pid-pressure',
        ['True', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
        ['False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
      ),
    ],
    ['Ready', ...ready],
  ];
}

export const NO_TROUBLES: ReadonlySet<NodeTrouble> = new Set();

/** Conditions of others are kept. */
function nodeConditions({ before, nowMs, troubles = NO_TROUBLES }: NodeState): NodeStatus['conditions'] {
  const now = toRfc3339(nowMs);
  const old = before?.status?.conditions ?? [];
  const ours = conditionValues(troubles);
  const others = old.filter(({ type }) => !ours.some(([own]) => own === type));
  return [
    ...others.map((condition) => ({ ...condition })),
    ...ours.map(([type, status, reason, message]) => {
      const known = old.find((condition) => condition.type === type);
      const lastTransitionTime = transitionTime(known, status, now);
      return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
    }),
  ];
}

/**
 * Whether a Node shows what its kubelet reports: its conditions, which the node controller may have set to Unknown, and
 * the amounts of its annotation.
 */
export function isAsReported(
  node: DeepReadonly<Node>,
  troubles: ReadonlySet<NodeTrouble> = NO_TROUBLES,
): boolean {
  const { allocatable, capacity, conditions = [] } = node.status ?? {};
  const asked = Object.entries(amountsAnnotation(node, CAPACITY_ANNOTATION));
  return (
    asked.every(([name, amount]) =>
      [capacity, allocatable].every((has) => nanosOf(has?.[name]) === nanosOf(amount)),
    ) &&
    conditionValues(troubles).every(([type, status]) =>
      conditions.some((one) => one.type === type && one.status === status),
    )
  );
}

/** The heartbeat of a node. */
export function newNodeLease(node: Node, nowMs: number): Lease {
  const { name, uid = '' } = node.metadata;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: NODE_LEASE_NAMESPACE,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: toRfc3339Micro(nowMs) },
  };
}

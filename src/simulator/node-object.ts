import { transitionTime } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339, toRfc3339Micro } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Lease, Node } from '@rollkeeper/machinery/kubernetes';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import { nodeAddressOf, podCidrOf } from './pod-addresses.js';

export const NODE_LEASE_NAMESPACE = 'kube-node-lease';
const KUBELET_VERSION = 'v1.36.2+rollkeeper';

export type NodeStatus = NonNullable<Node['status']>;

export function nodeName(index: number): string {
  return `node-${index}`;
}

/** On a Node: makes its simulator go silent (no heartbeats, no changes to its pods) until the annotation is removed. */
const NODE_BEHAVIOUR = 'node.rollkeeper.dev/behaviour';

export function isSilent(node: DeepReadonly<Node> | undefined): boolean {
  return node?.metadata.annotations?.[NODE_BEHAVIOUR] === 'silent';
}

/** The Node that a kubelet registers. */
export function newNode(index: number, options: CompiledNodeSimulatorOptions, nowMs: number): Node {
  const name = nodeName(index);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'node.rollkeeper.dev/simulated': 'true',
      },
      annotations: { 'node.alpha.kubernetes.io/ttl': '0' },
    },
    spec: { podCIDR: podCidrOf(index), podCIDRs: [podCidrOf(index)], providerID: `rollkeeper://${name}` },
    status: nodeStatus(index, options, nowMs, undefined),
  };
}

/** The status that a kubelet reports; `before` keeps the times of unchanged conditions. */
export function nodeStatus(
  index: number,
  options: CompiledNodeSimulatorOptions,
  nowMs: number,
  before: NodeStatus | undefined,
): NodeStatus {
  const resources = {
    cpu: String(options.cpus),
    memory: `${options.memoryGiB}Gi`,
    'ephemeral-storage': '1Ti',
    pods: String(options.podsPerNode),
  };
  return {
    addresses: [
      { type: 'InternalIP', address: nodeAddressOf(index) },
      { type: 'Hostname', address: nodeName(index) },
    ],
    capacity: resources,
    allocatable: resources,
    conditions: nodeConditions(toRfc3339(nowMs), before),
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

const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

function nodeConditions(now: string, before: NodeStatus | undefined): NodeStatus['conditions'] {
  return CONDITIONS.map(([type, status, reason, message]) => {
    const old = before?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = transitionTime(old, status, now);
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
  });
}

/** False once the node controller has set conditions to Unknown. */
export function isAsReported({ status }: DeepReadonly<Node>): boolean {
  return CONDITIONS.every(([wanted, value]) =>
    status?.conditions?.some(({ type, status: is }) => type === wanted && is === value),
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

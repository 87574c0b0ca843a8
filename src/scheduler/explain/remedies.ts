import { tolerates } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { subtract } from '../framework/amounts.js';
import type { NodeInfo, PodInfo } from '../framework/node-info.js';

/**
 * A remedy for a pod that a plug-in refuses, as concrete as pod and node allow. Undefined where the reasons say it all.
 */
export function remedyFor(plugin: string, pod: PodInfo, node: NodeInfo): string | undefined {
  return REMEDIES[plugin]?.(pod, node);
}

type Remedy = (pod: PodInfo, node: NodeInfo) => string | undefined;

const REMEDIES: Readonly<Record<string, Remedy>> = {
  NodeUnschedulable: (_pod, node) => `kubectl uncordon ${node.name}`,
  TaintToleration: (pod, node) => {
    const taint = node.node.spec?.taints?.find(
      (each) =>
        each.effect !== 'PreferNoSchedule' &&
        !(pod.pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, each)),
    );
    return (
      taint &&
      `tolerate the taint ${taint.key}${taint.value ? `=${taint.value}` : ''}:${taint.effect}, or take it away`
    );
  },
  NodeAffinity: () => 'a node with the labels that the pod asks for, or a wider selector',
  NodePorts: ({ hostPorts }) =>
    `another host port than ${hostPorts.map(({ port, protocol }) => `${port}/${protocol}`).join(', ')}, or that the pod which has it goes`,
  NodeResourcesFit: shortfall,
  PodTopologySpread: () =>
    'pods in the other domains first, a larger maxSkew, or whenUnsatisfiable: ScheduleAnyway',
  InterPodAffinity: () =>
    'that a pod which matches goes or comes, another topology, or preferred terms instead of required ones',
  VolumeBinding: () => 'a volume that the claim can have on this node, or a class that can make one there',
  VolumeZone: () => 'a node in the zone of the volume',
  VolumeRestrictions: () => 'that the pod which uses the volume goes',
  NodeVolumeLimits: () => 'a node with fewer volumes',
  DynamicResources: () => 'a device there that is free and fits, or that the pod which has it goes',
};

/** By how much the node is short. */
function shortfall({ requests }: PodInfo, { allocatable, pods, requested }: NodeInfo): string {
  const most = allocatable.get('pods') ?? 0;
  const full = pods.length + 1 > most ? [`one pod less on it (it takes ${most})`] : [];
  const missing = [...requests].flatMap(([resource, wanted]) => {
    const all = allocatable.get(resource) ?? 0;
    const free = subtract(all, requested.get(resource) ?? 0);
    if (wanted <= free) return [];
    const asked = `${shown(resource, wanted)} ${resource}`;
    return wanted > all
      ? [`a node with ${asked} (this one has ${shown(resource, all)})`]
      : [
          `${shown(resource, subtract(wanted, free))} more ${resource} free (it asks for ${shown(resource, wanted)}, ${shown(resource, free)} are left)`,
        ];
  });
  return [...full, ...missing].join('; ');
}

const MIB = 1024 * 1024;

function shown(resource: string, amount: Int64): string {
  if (resource === 'cpu') return `${amount}m`;
  if (resource === 'memory' || resource === 'ephemeral-storage')
    return `${Math.ceil(Number(amount) / MIB)}Mi`;
  return String(amount);
}

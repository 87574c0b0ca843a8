import type { PluginFactory } from '../framework/plugin.js';
import { balancedAllocation } from '../plugins/node-resources/balanced-allocation.js';
import { defaultPreemption } from '../plugins/default-preemption/default-preemption.js';
import { dynamicResources } from '../plugins/dynamic-resources/dynamic-resources.js';
import { imageLocality } from '../plugins/image-locality.js';
import { interPodAffinity } from '../plugins/inter-pod-affinity/inter-pod-affinity.js';
import { nodeAffinity } from '../plugins/node-affinity.js';
import { nodeName } from '../plugins/node-name.js';
import { nodePorts } from '../plugins/node-ports.js';
import { nodeResourcesFit } from '../plugins/node-resources/node-resources-fit.js';
import { nodeUnschedulable } from '../plugins/node-unschedulable.js';
import { podTopologySpread } from '../plugins/pod-topology-spread/pod-topology-spread.js';
import { prioritySort } from '../plugins/priority-sort.js';
import { schedulingGates } from '../plugins/scheduling-gates.js';
import { taintToleration } from '../plugins/taint-toleration.js';
import { nodeDeclaredFeatures } from '../plugins/node-declared-features.js';
import { nodeVolumeLimits } from '../plugins/volumes/node-volume-limits.js';
import { volumeBinding } from '../plugins/volumes/volume-binding.js';
import { volumeRestrictions } from '../plugins/volumes/volume-restrictions.js';
import { volumeZone } from '../plugins/volumes/volume-zone.js';

export interface PluginEntry {
  /** As in `KubeSchedulerConfiguration`. */
  readonly name: string;
  /** 0 where it scores nothing. */
  readonly weight: number;
  readonly create: PluginFactory;
}

/** The plug-ins that decide, in the order in which kube-scheduler 1.36 enables them at every point. */
export const DEFAULT_PLUGINS: readonly PluginEntry[] = [
  { name: 'SchedulingGates', weight: 0, create: schedulingGates },
  { name: 'PrioritySort', weight: 0, create: prioritySort },
  { name: 'NodeUnschedulable', weight: 0, create: nodeUnschedulable },
  { name: 'NodeName', weight: 0, create: nodeName },
  { name: 'TaintToleration', weight: 3, create: taintToleration },
  { name: 'NodeAffinity', weight: 2, create: nodeAffinity },
  { name: 'NodePorts', weight: 0, create: nodePorts },
  { name: 'NodeResourcesFit', weight: 1, create: nodeResourcesFit },
  { name: 'VolumeRestrictions', weight: 0, create: volumeRestrictions },
  { name: 'NodeVolumeLimits', weight: 0, create: nodeVolumeLimits },
  { name: 'VolumeBinding', weight: 0, create: volumeBinding },
  { name: 'VolumeZone', weight: 0, create: volumeZone },
  { name: 'PodTopologySpread', weight: 2, create: podTopologySpread },
  { name: 'InterPodAffinity', weight: 2, create: interPodAffinity },
  { name: 'DynamicResources', weight: 2, create: dynamicResources },
  { name: 'DefaultPreemption', weight: 0, create: defaultPreemption },
  { name: 'NodeResourcesBalancedAllocation', weight: 1, create: balancedAllocation },
  { name: 'ImageLocality', weight: 1, create: imageLocality },
  { name: 'NodeDeclaredFeatures', weight: 0, create: nodeDeclaredFeatures },
];

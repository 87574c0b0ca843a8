import type { EventNote } from '@rollkeeper/client/events';
import type { DeepReadonly, Node } from '@rollkeeper/machinery/kubernetes';
import type { NodeStatus } from './node-object.js';

/** Reasons of a kubelet's events about its conditions. Source: pkg/kubelet/nodestatus/setters.go. */
const REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { True: 'NodeReady', False: 'NodeNotReady' },
  MemoryPressure: { True: 'NodeHasInsufficientMemory', False: 'NodeHasSufficientMemory' },
  DiskPressure: { True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure' },
  PIDPressure: { True: 'NodeHasInsufficientPID', False: 'NodeHasSufficientPID' },
};

/** The Events of a kubelet about its conditions when they change, for a status about to be written over the node's. */
export function decideNodeEvents(node: DeepReadonly<Node>, next: DeepReadonly<NodeStatus>): EventNote[] {
  const before = node.status?.conditions ?? [];
  return (next.conditions ?? []).flatMap(({ status, type }) => {
    const was = before.find((condition) => condition.type === type)?.status;
    const reason = REASONS[type]?.[status];
    if (reason === undefined || was === undefined || was === status) return [];
    return [{ type: 'Normal', reason, message: `Node ${node.metadata.name} status is now: ${reason}` }];
  });
}

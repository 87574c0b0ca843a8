import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';

/**
 * Reasons of `status.reason` with which a node turns a pod away or throws it out. What a kubelet does not admit
 * (k/k pkg/kubelet/lifecycle, cm/topologymanager, sysctl, volumemanager; the names are of scheduler plugins where it
 * runs those), preempts, evicts, or ends because the machine shuts down. `NodeLost` is the node controller's.
 */
const REASONS: ReadonlySet<string> = new Set([
  'AppArmor',
  'Evicted',
  'InitContainerRestartPolicyForbidden',
  'InvalidNodeInfo',
  'NodeAffinity',
  'NodeLost',
  'NodeName',
  'NodePorts',
  'NodeShutdown',
  'PodFeatureUnsupported',
  'PodLevelResourcesNotSupported',
  'PodOSNotSupported',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'Preempting',
  'SupplementalGroupsPolicyNotSupported',
  'SysctlForbidden',
  'TaintToleration',
  'Terminated',
  'TopologyAffinityError',
  'UnexpectedAdmissionError',
  'UnexpectedPredicateFailureType',
  'UnknownReason',
  'VolumeAttachmentLimitExceeded',
]);

/** `OutOfcpu`, `OutOfpods`, and one for each extended resource. */
const INSUFFICIENT_RESOURCE = 'OutOf';

/** Whether a node refused to run this pod, or to go on running it, rather than the pod failing by itself. */
export function isRejectedByNode({ status }: DeepReadonly<Pod>): boolean {
  const reason = status?.reason ?? '';
  return status?.phase === 'Failed' && (REASONS.has(reason) || reason.startsWith(INSUFFICIENT_RESOURCE));
}

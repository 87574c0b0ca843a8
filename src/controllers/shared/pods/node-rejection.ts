import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';

/**
 * Values of `status.reason` with which a node rejects or evicts a pod. Pods that a kubelet does not admit (k/k
 * pkg/kubelet/lifecycle, cm/topologymanager, sysctl, volumemanager; the names are of scheduler plugins where it runs
 * those), preempts, evicts, or ends because the machine shuts down. `NodeLost` is the node controller's.
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

/** Whether a node refused to run or to keep this pod, rather than the pod failing by itself. */
export function isRejectedByNode({ status }: DeepReadonly<Pod>): boolean {
  const reason = status?.reason ?? '';
  return status?.phase === 'Failed' && (REASONS.has(reason) || reason.startsWith(INSUFFICIENT_RESOURCE));
}

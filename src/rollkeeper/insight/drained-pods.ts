import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isMirrorPod, isPodFinished } from '@rollkeeper/machinery/kubernetes';

/** Whether a drain of its node moves a pod, as `kubectl drain --ignore-daemonsets` does: DaemonSets and the kubelet keep theirs. */
export function isMovedByDrain(pod: DeepReadonly<Pod>): boolean {
  return !isPodFinished(pod) && !isMirrorPod(pod) && controllerOf(pod)?.kind !== 'DaemonSet';
}

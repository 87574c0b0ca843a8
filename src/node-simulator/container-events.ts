import type { EventNote } from '../kit/events/index.js';
import type { DeepReadonly, Pod, PodStatus } from '../base/kubernetes/index.js';

/**
 * The events by which a kubelet tells of trouble, for a status about to be written. Nothing is told of what goes well:
 * on a simulated node that would be most of all writes.
 */
export function decideContainerEvents(
  pod: DeepReadonly<Pod>,
  next: DeepReadonly<PodStatus>,
): readonly EventNote[] {
  if (next.reason === 'OutOfcpu' && pod.status?.reason !== next.reason) {
    return [{ type: 'Warning', reason: next.reason, message: next.message ?? '' }];
  }
  return (next.containerStatuses ?? []).flatMap((status) => {
    const before = pod.status?.containerStatuses?.find(({ name }) => name === status.name);
    const reason = status.state?.waiting?.reason;
    if (reason === undefined || before?.state?.waiting?.reason === reason) return [];
    return notesOf(reason, status.state?.waiting?.message ?? '', status.image ?? '', status.name, pod);
  });
}

function notesOf(
  reason: string,
  message: string,
  image: string,
  container: string,
  pod: DeepReadonly<Pod>,
): EventNote[] {
  switch (reason) {
    case 'ErrImagePull':
      return [
        { type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${message}` },
        { type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' },
      ];
    case 'ImagePullBackOff':
      return [{ type: 'Normal', reason: 'BackOff', message }];
    case 'InvalidImageName':
      return [{ type: 'Warning', reason: 'InspectFailed', message }];
    case 'CrashLoopBackOff': {
      const { name, namespace, uid } = pod.metadata;
      const where = `${container} in pod ${name}_${namespace}(${uid})`;
      return [
        { type: 'Warning', reason: 'BackOff', message: `Back-off restarting failed container ${where}` },
      ];
    }
    default:
      return [];
  }
}

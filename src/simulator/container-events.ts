import type { EventNote } from '@rollkeeper/client/events';
import { isSidecar, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { DEADLINE_EXCEEDED } from './decide-pod-lifecycle.js';
import { isResizing, pendingResize } from './decide-resize.js';
import { decideProbes } from './decide-probes.js';

/**
 * The events of a kubelet about failures, for a status about to be written. Nothing is recorded for successes: on a
 * simulated node that would be most of all writes.
 */
export function decideContainerEvents(
  pod: DeepReadonly<Pod>,
  next: DeepReadonly<PodStatus>,
): readonly EventNote[] {
  if (next.reason === 'OutOfcpu' && pod.status?.reason !== next.reason) {
    return [{ type: 'Warning', reason: next.reason, message: next.message ?? '' }];
  }
  const old = statusesOf(pod.status ?? {});
  const notes = [
    ...resizeNotes(pod, next),
    ...statusesOf(next).flatMap((status) => {
      const before = old.find(({ name }) => name === status.name);
      const probed = probeNotes(pod, status, before);
      const reason = status.state?.waiting?.reason;
      if (reason === undefined || before?.state?.waiting?.reason === reason) return probed;
      const message = status.state?.waiting?.message ?? '';
      return [...probed, ...notesOf(reason, message, status.image, status.name, pod)];
    }),
  ];
  if (next.reason !== DEADLINE_EXCEEDED || pod.status?.reason === next.reason) return notes;
  return [...notes, { type: 'Normal', reason: next.reason, message: next.message ?? '' }];
}

/** What a kubelet says of the steps of a resize. Source: pkg/kubelet/kubelet.go and allocation_manager.go. */
function resizeNotes(pod: DeepReadonly<Pod>, next: DeepReadonly<PodStatus>): EventNote[] {
  const [before, after] = [pod.status ?? {}, next];
  const about = (error?: string): string =>
    stringifyJson({ ...resourcesShown(pod), ...(error && { error }) });
  const pending = pendingResize(after);
  if (pending && pendingResize(before)?.message !== pending.message) {
    const { reason = '', message } = pending;
    return [
      { type: 'Warning', reason: `Resize${reason}`, message: `Pod resize ${reason}: ${about(message)}` },
    ];
  }
  if (isResizing(after) === isResizing(before)) return [];
  return isResizing(after)
    ? [{ type: 'Normal', reason: 'ResizeStarted', message: `Pod resize started: ${about()}` }]
    : [{ type: 'Normal', reason: 'ResizeCompleted', message: `Pod resize completed: ${about()}` }];
}

function resourcesShown({ metadata: { generation }, spec }: DeepReadonly<Pod>): object {
  const sidecars = spec.initContainers?.filter(isSidecar) ?? [];
  const shown = ({ name, resources = {} }: (typeof spec.containers)[number]): object => ({ name, resources });
  return {
    ...(sidecars.length > 0 && { initContainers: sidecars.map(shown) }),
    containers: spec.containers.map(shown),
    ...(generation !== undefined && { generation }),
  };
}

type Status = NonNullable<DeepReadonly<PodStatus>['containerStatuses']>[number];

/** The statuses of all containers, in start order. */
export function statusesOf(status: DeepReadonly<PodStatus>): readonly Status[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

/** Events for failing probes: one when the failure begins to show, and one when the container is killed for it. */
function probeNotes(pod: DeepReadonly<Pod>, status: Status, before: Status | undefined): EventNote[] {
  const { containers = [], initContainers = [] } = pod.spec;
  const container = [...initContainers, ...containers].find(({ name }) => name === status.name);
  const { killedAfterMs, problems } = container ? decideProbes(pod, container) : NO_PROBES;
  if (problems.length === 0) return [];
  const unhealthy = problems.map(({ message }): EventNote => ({
    type: 'Warning',
    reason: 'Unhealthy',
    message,
  }));
  const startsNow = !before?.state?.running || before.containerID !== status.containerID;
  if (status.state?.running) return startsNow || (before.ready && !status.ready) ? unhealthy : [];
  if (killedAfterMs === undefined || !before?.state?.running) return [];
  const killer = problems.find(({ isError, type }) => type !== 'Readiness' && !isError);
  const message = `Container ${status.name} failed ${killer?.type.toLowerCase()} probe, will be restarted`;
  return [{ type: 'Normal', reason: 'Killing', message }];
}

const NO_PROBES = { killedAfterMs: undefined, problems: [] } as const;

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

import type { EventNote } from '@rollkeeper/client/events';
import { isSidecar, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { EXIT_CODE_OF_KILLED, postStartEnd } from './pod-behaviour.js';
import { pullKey } from './decide-containers.js';
import type { MissingSources } from './decide-sources.js';
import { DEADLINE_EXCEEDED } from './decide-pod-lifecycle.js';
import { decideProbes } from './decide-probes.js';
import type { ProbeProblem } from './decide-probes.js';
import { isResizing, pendingResize } from './decide-resize.js';
import { formatGoDuration } from '@rollkeeper/machinery/clock';
import { imagePullOf } from './image-pull.js';
import { SHUT_DOWN } from './node-verdict.js';
import { statusesOf } from './pod-conditions.js';

/**
 * The events of a kubelet for a status about to be written: about failures, and about what takes time. Nothing is
 * recorded for successes: on a simulated node that would be most of all writes.
 */
export function decideContainerEvents(
  pod: DeepReadonly<Pod>,
  next: DeepReadonly<PodStatus>,
  pulls: PullContext = {},
): readonly EventNote[] {
  const ended = endNote(pod, next);
  if (ended && pod.status?.startTime === undefined) return [ended];
  const old = statusesOf(pod.status ?? {});
  const notes = [
    ...resizeNotes(pod, next),
    ...statusesOf(next).flatMap((status) => {
      const before = old.find(({ name }) => name === status.name);
      const going = [...pullNotes(pod, status, before, pulls), ...probeNotes(pod, status, before)];
      const reason = status.state?.waiting?.reason;
      if (reason === undefined || before?.state?.waiting?.reason === reason) return going;
      const message = status.state?.waiting?.message ?? '';
      return [...going, ...notesOf(reason, message, status.image, status.name, pod)];
    }),
  ];
  return ended ? [...notes, ended] : notes;
}

/** For a pod that its node ends, or has not taken. */
function endNote(
  pod: DeepReadonly<Pod>,
  { message = '', reason }: DeepReadonly<PodStatus>,
): EventNote | undefined {
  if (reason === undefined || pod.status?.reason === reason || reason === SHUT_DOWN) return undefined;
  if (reason === DEADLINE_EXCEEDED) return { type: 'Normal', reason, message };
  return { type: 'Warning', reason, message: message.replace(/^Pod was rejected: /, '') };
}

/** The Events of a kubelet about the steps of a resize. Source: pkg/kubelet/kubelet.go and allocation_manager.go. */
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

/** Events for failing probes: when a failure begins to show, and when the container is killed for it. */
function probeNotes(pod: DeepReadonly<Pod>, status: Status, before: Status | undefined): EventNote[] {
  const { containers = [], initContainers = [] } = pod.spec;
  const container = [...initContainers, ...containers].find(({ name }) => name === status.name);
  if (!container) return [];
  if (postStartEnd(container)) return hookNotes(status, before);
  const { killedAfterMs, killer, problems, unready } = decideProbes(pod, container);
  const isSameRun = before?.state?.running && before.containerID === status.containerID;
  const hasBecomeUnready = isSameRun === true && before.ready && !status.ready;
  if (status.state?.running) {
    if (!isSameRun) return problems.map(unhealthy);
    if (!hasBecomeUnready) return [];
    return [...problems, ...(unready ? [unready] : [])].map(unhealthy);
  }
  const ended = status.state?.terminated ?? status.lastState?.terminated;
  if (killedAfterMs === undefined || !before?.state?.running || ended?.exitCode !== EXIT_CODE_OF_KILLED)
    return [];
  const cause = killer ?? problems.find(({ isError, type }) => type !== 'Readiness' && !isError);
  const message = `Container ${status.name} failed ${cause?.type.toLowerCase()} probe, will be restarted`;
  return [...(killer ? [unhealthy(killer)] : []), { type: 'Normal', reason: 'Killing', message }];
}

/** A container is killed because its `postStart` hook has failed. */
function hookNotes(status: Status, before: Status | undefined): EventNote[] {
  const ended = status.state?.terminated ?? status.lastState?.terminated;
  if (!before?.state?.running || status.state?.running || ended?.exitCode !== EXIT_CODE_OF_KILLED) return [];
  const reason = 'FailedPostStartHook';
  return [
    { type: 'Warning', reason, message: 'PostStartHook failed' },
    { type: 'Normal', reason: 'Killing', message: reason },
  ];
}

function unhealthy({ message }: ProbeProblem): EventNote {
  return { type: 'Warning', reason: 'Unhealthy', message };
}

/** The facts of a pod's pulls. */
interface PullContext {
  /** The pulls that begin now, by `pullKey`. @default none */
  readonly begun?: readonly string[];
  /** The pulls that are known to have begun. @default none */
  readonly known?: ReadonlyMap<string, number>;
  /** How long a pull takes on the node. @default no time */
  readonly pullsAfterMs?: number;
}

/** Events for pulls. Those that take no time and do not fail are none. */
function pullNotes(
  pod: DeepReadonly<Pod>,
  status: Status,
  before: Status | undefined,
  { begun = [], known, pullsAfterMs }: PullContext,
): EventNote[] {
  const { image, name } = status;
  const key = pullKey(name, image);
  const [was, is] = [before?.state?.waiting?.reason, status.state?.waiting?.reason];
  const hasCome = before?.state?.waiting !== undefined && !before.containerID && status.containerID;
  const isTriedAgain = was === 'ImagePullBackOff' && (is === 'ErrImagePull' || hasCome);
  const pulling: EventNote[] =
    begun.includes(key) || isTriedAgain
      ? [{ type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` }]
      : [];
  if (!hasCome || !known?.has(key)) return pulling;
  const took = formatGoDuration(imagePullOf(pod, { name, image }, pullsAfterMs).takesMs);
  const size = `Image size: ${IMAGE_BYTES} bytes.`;
  const message = `Successfully pulled image "${image}" in ${took} (${took} including waiting). ${size}`;
  return [...pulling, { type: 'Normal', reason: 'Pulled', message }];
}

/**
 * The Events of a kubelet about what a pod that has not started refers to and does not exist. Pull secrets matter where an
 * image cannot be pulled. Source: SyncPod in k/k pkg/kubelet/kubelet.go.
 */
export function missingSourceNotes(
  { mounts, pullSecrets }: MissingSources,
  next?: DeepReadonly<PodStatus>,
): readonly EventNote[] {
  // The images are only pulled once the volumes are mounted.
  if (mounts.length > 0)
    return mounts.map((message) => ({ type: 'Warning', reason: 'FailedMount', message }));
  const isFailing = ({ state }: Status): boolean => state?.waiting?.reason === 'ErrImagePull';
  if (pullSecrets.length === 0 || !statusesOf(next ?? {}).some(isFailing)) return [];
  const message = `Unable to retrieve some image pull secrets: [${pullSecrets.join(' ')}]`;
  return [{ type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message }];
}

/** No image is really pulled. */
const IMAGE_BYTES = 50_000_000;

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
      return [
        { type: 'Normal', reason: 'BackOff', message: message.replace(/: ErrImagePull: .*$/s, '') },
        { type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' },
      ];
    case 'ErrImageNeverPull':
      return [
        { type: 'Warning', reason, message },
        { type: 'Warning', reason: 'Failed', message: `Error: ${reason}` },
      ];
    case 'CreateContainerConfigError':
      return [{ type: 'Warning', reason: 'Failed', message: `Error: ${message}` }];
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

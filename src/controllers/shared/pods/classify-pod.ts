import {
  findCondition,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  readyConditionOf,
} from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isRejectedByNode } from './node-rejection.js';
import { readinessLostAt } from './pod-death.js';
import { isPodAvailable, msUntilPodAvailable, parseTimeMs } from './pod-readiness.js';

/** The state of a pod from a rollout's perspective. */
export type PodState =
  | 'available'
  | 'ready'
  | 'starting'
  | 'unready'
  | 'pending'
  | 'unschedulable'
  | 'image'
  | 'crash'
  | 'config'
  | 'rejected'
  | 'terminating'
  | 'overdue'
  | 'finished';

export interface ClassifiedPod {
  readonly name: string;
  readonly state: PodState;
  /** The API's own reason: `ImagePullBackOff`, `Unschedulable`. */
  readonly reason: string;
  readonly message?: string;
  /** Until it counts as available, if only time is missing. */
  readonly availableInMs?: number;
  /** It was ready before, and is not any more. */
  readonly wasReady?: true;
  /** Its containers are ready but the pod is not: the node controller has marked it because its node is silent. */
  readonly isUnheardOf?: true;
  /** Secrets that it names for its images, if one cannot be pulled. Absent: none. */
  readonly pullSecrets?: readonly string[];
  /** Its node, for a pod that was ready and is not, or that should have ended. */
  readonly node?: string;
}

const WAITING_STATES: ReadonlyMap<string, PodState> = new Map(
  Object.entries({
    ErrImagePull: 'image',
    ImagePullBackOff: 'image',
    InvalidImageName: 'image',
    ErrImageNeverPull: 'image',
    ImageInspectError: 'image',
    RegistryUnavailable: 'image',
    CrashLoopBackOff: 'crash',
    RunContainerError: 'crash',
    StartError: 'crash',
    CreateContainerConfigError: 'config',
    CreateContainerError: 'config',
  } satisfies Record<string, PodState>),
);

/** A pod that still exists this long after its grace period is stuck. */
const OVERDUE_MS = 5000;
/** Started this long ago and not ready: no longer just starting. */
const STARTING_MS = 10_000;

type ReadablePod = DeepReadonly<Pod>;

/** The state of a pod at `nowMs`, with the API's own reason. */
export function classifyPod(pod: ReadablePod, minReadySeconds: number, nowMs: number): ClassifiedPod {
  const { name } = pod.metadata;
  if (isPodTerminating(pod)) return { name, ...terminating(pod, nowMs) };
  if (isPodFinished(pod)) return { name, ...finished(pod) };
  if (isPodAvailable(pod, minReadySeconds, nowMs)) return { name, state: 'available', reason: 'Available' };
  if (isPodReady(pod)) {
    const availableInMs = msUntilPodAvailable(pod, minReadySeconds, nowMs);
    return { name, state: 'ready', reason: 'MinReadySeconds', availableInMs };
  }
  const lostAt = readinessLostAt(pod);
  const verdict = troubleOf(pod) ?? (lostAt === undefined ? onItsWay(pod, nowMs) : noLongerReady(lostAt));
  return { name, ...verdict, ...(lostAt === undefined ? {} : lossOf(pod)) };
}

function noLongerReady(sinceTime: string): Classification {
  return { state: 'unready', reason: 'NoLongerReady', message: `was ready, and is not since ${sinceTime}` };
}

function lossOf({ spec, status }: ReadablePod): Pick<ClassifiedPod, 'wasReady' | 'isUnheardOf' | 'node'> {
  const containersReady = findCondition(status?.conditions, 'ContainersReady');
  const gates = readyConditionOf({ status })?.reason === 'ReadinessGatesNotReady';
  return {
    wasReady: true,
    ...(containersReady?.status === 'True' && !gates && { isUnheardOf: true }),
    ...nodeOf({ spec }),
  };
}

function nodeOf({ spec }: Pick<ReadablePod, 'spec'>): Pick<ClassifiedPod, 'node'> {
  return spec.nodeName === undefined ? {} : { node: spec.nodeName };
}

/** For sorting: the same order on every replica. */
export function byPodName(a: ClassifiedPod, b: ClassifiedPod): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

type Classification = Omit<ClassifiedPod, 'name'>;

function terminating(pod: ReadablePod, nowMs: number): Classification {
  const { deletionTimestamp, finalizers = [] } = pod.metadata;
  // The API sets the time at which the grace period ends.
  const lateMs = nowMs - (parseTimeMs(deletionTimestamp) ?? nowMs);
  const held = finalizers.length > 0 ? `held by finalizers ${finalizers.join(', ')}` : undefined;
  if (lateMs > OVERDUE_MS) {
    const message = held ?? `its grace period ended ${Math.round(lateMs / 1000)} s ago`;
    return { state: 'overdue', reason: 'Terminating', message, ...nodeOf(pod) };
  }
  return { state: 'terminating', reason: 'Terminating', ...(held ? { message: held } : {}) };
}

function finished(pod: ReadablePod): Classification {
  const { message, phase, reason } = pod.status ?? {};
  const detail = message === undefined ? {} : { message };
  const state = isRejectedByNode(pod) ? 'rejected' : 'finished';
  return { state, reason: reason ?? phase ?? 'Finished', ...detail };
}

function troubleOf({ spec, status }: ReadablePod): Classification | undefined {
  const scheduled = findCondition(status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False')
    return {
      state: 'unschedulable',
      reason: scheduled.reason ?? 'Unschedulable',
      message: scheduled.message,
    };
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { message, reason } = container.state?.waiting ?? {};
    const state = reason === undefined ? undefined : WAITING_STATES.get(reason);
    if (state && reason !== undefined)
      return {
        ...{ state, reason, message: message ?? container.image },
        ...(state === 'image' && pullSecretsOf(spec)),
      };
    const exit = container.state?.terminated;
    if (exit && exit.exitCode !== 0)
      return { state: 'crash', reason: exit.reason ?? 'Error', message: `exit code ${exit.exitCode}` };
    // Between two crashes a container runs for a moment: it is the same loop.
    if (container.state?.running && container.restartCount > 0 && container.lastState?.terminated)
      return { state: 'crash', reason: 'Restarting', message: `restarted ${container.restartCount} times` };
  }
  return undefined;
}

function pullSecretsOf({ imagePullSecrets = [] }: ReadablePod['spec']): Pick<ClassifiedPod, 'pullSecrets'> {
  const pullSecrets = imagePullSecrets.flatMap(({ name = '' }) => (name === '' ? [] : [name]));
  return pullSecrets.length > 0 ? { pullSecrets } : {};
}

function onItsWay(pod: ReadablePod, nowMs: number): Classification {
  if (pod.spec.nodeName === undefined) return { state: 'pending', reason: 'NotScheduledYet' };
  const startTimes = pod.status?.containerStatuses?.map(({ state }) => state?.running?.startedAt);
  const startedAt = startTimes?.find((time) => parseTimeMs(time) !== undefined);
  if (nowMs - (parseTimeMs(startedAt) ?? nowMs) > STARTING_MS) {
    // Without a duration: the sentence may be read long after it was written.
    const message = `running since ${startedAt} and not ready`;
    return { state: 'unready', reason: 'NotReady', message };
  }
  return { state: 'starting', reason: pod.status?.phase === 'Running' ? 'Starting' : 'ContainerCreating' };
}

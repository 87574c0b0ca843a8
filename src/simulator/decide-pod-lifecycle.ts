import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, isPodFinished, sameJson, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { ContainerStatus } from './decide-container.js';
import { EXIT_CODE_OF_KILLED, stopped } from './decide-container.js';
import { decideContainers, stopSidecars } from './decide-containers.js';
import type { NodeRoom } from './decide-resize.js';
import { decideResize, isDeferred, podResources, withResizeConditions } from './decide-resize.js';
import { conditionsOfEnded, decidePodConditions, isConditionTrue } from './pod-conditions.js';
import { behaviourOf, restartsAlways } from './pod-behaviour.js';

export interface PodLifecycleFacts {
  readonly nowMs: number;
  readonly readyDelayMs: number;
  readonly terminationDelayMs: number;
  readonly hostIp: string;
  /** The pod's address; its existing one, if it has one. */
  readonly podIp: string;
  /** Exact starts of containers by containerID; the API only keeps whole seconds. */
  readonly startedMs?: ReadonlyMap<string, number>;
  /** What the node can give to the pod. @default all that it asks for */
  readonly room?: () => NodeRoom | undefined;
  /** When the node noticed the deletion. */
  readonly terminatingSinceMs?: number;
}

export type PodPlan =
  | { readonly action: 'rest'; readonly wakeAtMs?: number }
  | { readonly action: 'write-status'; readonly status: PodStatus; readonly wakeAtMs?: number }
  /** Everything has stopped: delete the pod from the API. */
  | { readonly action: 'delete' };

/** Reason of a pod that exceeded `activeDeadlineSeconds`. */
export const DEADLINE_EXCEEDED = 'DeadlineExceeded';

/** How often a resize without room is tried again, beside when room may have become free: as a kubelet does. */
const RESIZE_RETRY_MS = 180_000;

type ReadablePod = DeepReadonly<Pod>;

/** The node's next step for `pod`. All lasting state is read from the pod itself. */
export function decidePodLifecycle(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(pod, facts);
  if (isPodFinished(pod)) return { action: 'rest' };
  if (behaviourOf(pod) === 'reject') return { action: 'write-status', status: rejected(pod, facts) };
  return run(pod, facts);
}

function run(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  const startTime = pod.status?.startTime ?? toRfc3339(facts.nowMs);
  const podStartedMs = pod.status?.startTime === undefined ? facts.nowMs : Date.parse(startTime);
  const deadlineMs = deadlineOf(pod, podStartedMs);
  if (facts.nowMs >= deadlineMs) {
    const status = overdue(pod, startTime, facts.nowMs);
    return { action: 'write-status', status };
  }
  const resize = decideResize(pod, facts.room);
  const {
    containers,
    ephemeralContainers,
    initContainers,
    isInitialized,
    wakeAtMs: nextMs = Infinity,
  } = decideContainers(pod, podStartedMs, { ...facts, resize });
  const phase = isInitialized ? phaseOf(containers) : phaseBefore(pod, initContainers);
  const now = toRfc3339(facts.nowMs);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const statuses = {
    containers,
    initContainers: isOver ? stopSidecars(initContainers, facts.nowMs) : initContainers,
  };
  const { generation } = pod.metadata;
  const status: PodStatus = {
    ...(pod.status as PodStatus | undefined),
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    conditions: isOver
      ? conditionsOfEnded(pod, phase, now, isInitialized ? [] : statuses.initContainers)
      : withResizeConditions(decidePodConditions(pod, statuses, now), pod, resize, now),
    ...podResources(pod, resize),
    hostIP: facts.hostIp,
    hostIPs: [{ ip: facts.hostIp }],
    podIP: facts.podIp,
    podIPs: [{ ip: facts.podIp }],
    startTime,
    containerStatuses: containers,
    ...(initContainers.length > 0 && { initContainerStatuses: statuses.initContainers }),
    ...(ephemeralContainers.length > 0 && {
      ephemeralContainerStatuses: isOver
        ? stopSidecars(ephemeralContainers, facts.nowMs)
        : ephemeralContainers,
    }),
  };
  const retryMs = isDeferred(resize) ? facts.nowMs + RESIZE_RETRY_MS : Infinity;
  const wakeMs = isOver ? Infinity : Math.min(nextMs, deadlineMs, retryMs);
  const wakeAtMs = wakeMs === Infinity ? undefined : wakeMs;
  return sameJson(status, pod.status)
    ? { action: 'rest', wakeAtMs }
    : { action: 'write-status', status, wakeAtMs };
}

function deadlineOf({ spec }: ReadablePod, startedMs: number): number {
  const seconds = spec.activeDeadlineSeconds;
  return seconds === undefined ? Infinity : startedMs + toDouble(seconds) * 1_000;
}

/** Source: pkg/kubelet/active_deadline.go, and TerminatePod in pkg/kubelet/status/status_manager.go. */
function overdue(pod: ReadablePod, startTime: string, nowMs: number): PodStatus {
  const status = cloneJson(pod.status ?? {}) as PodStatus;
  const { containerStatuses = [], initContainerStatuses } = status;
  const isInitialized = !pod.spec.initContainers?.length || isConditionTrue(pod, 'Initialized');
  const end = (one: ContainerStatus): ContainerStatus => {
    if (one.state?.running) return stopped(one, nowMs, EXIT_CODE_OF_KILLED);
    return one.state?.terminated || !isInitialized ? one : lost(one);
  };
  return {
    ...status,
    phase: 'Failed',
    reason: DEADLINE_EXCEEDED,
    message: 'Pod was active on the node longer than the specified deadline',
    startTime,
    conditions: conditionsOfEnded(
      pod,
      'Failed',
      toRfc3339(nowMs),
      isInitialized ? [] : (initContainerStatuses ?? []),
    ),
    containerStatuses: containerStatuses.map(end),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(end) }),
  };
}

/** A container that was waiting when its pod ended: the kubelet's status for a container it cannot find. */
function lost(status: ContainerStatus): ContainerStatus {
  const message = 'The container could not be located when the pod was terminated';
  const terminated = {
    exitCode: EXIT_CODE_OF_KILLED,
    reason: 'ContainerStatusUnknown',
    message,
  };
  return { ...status, ready: false, started: false, state: { terminated } };
}

/** The phase before all init containers have completed. A permanently failed one ends the pod. */
function phaseBefore({ spec }: ReadablePod, statuses: readonly ContainerStatus[]): 'Pending' | 'Failed' {
  const hasFailed = statuses.some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  return spec.restartPolicy === 'Never' && hasFailed ? 'Failed' : 'Pending';
}

/** Source: `getPhase` in k/k pkg/kubelet/kubelet_pods.go. A container that will be restarted is in state waiting. */
function phaseOf(statuses: readonly ContainerStatus[]): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  const unborn = statuses.some(({ state, lastState }) => state?.waiting && !lastState?.terminated);
  if (unborn) return 'Pending';
  if (statuses.length === 0 || statuses.some(({ state }) => !state?.terminated)) return 'Running';
  return statuses.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

function rejected(pod: ReadablePod, { nowMs }: PodLifecycleFacts): PodStatus {
  return {
    ...(pod.status as PodStatus | undefined),
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: "Pod was rejected: Node didn't have enough resource: cpu",
    startTime: pod.status?.startTime ?? toRfc3339(nowMs),
  };
}

/**
 * A pod is deleted when its containers have stopped. If a finalizer will keep it, its final status is written first.
 */
function terminate(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
  if (finalizers.length > 0 && !isPodFinished(pod) && pod.status?.containerStatuses?.length) {
    return { action: 'write-status', status: ended(pod, facts.nowMs) };
  }
  // With a grace period of 0 the server removes it once no finalizer holds it.
  if (deletionGracePeriodSeconds === 0) return { action: 'rest' };
  const graceMs = toDouble(deletionGracePeriodSeconds) * 1000;
  const sinceMs = facts.terminatingSinceMs ?? Date.parse(deletionTimestamp) - graceMs;
  const dueMs = sinceMs + Math.min(facts.terminationDelayMs, graceMs);
  return facts.nowMs >= dueMs ? { action: 'delete' } : { action: 'rest', wakeAtMs: dueMs };
}

/** A server exits cleanly on SIGTERM; a container meant to complete has not done so. */
const EXIT_CODE_OF_TERMINATED = 143;

function ended(pod: ReadablePod, nowMs: number): PodStatus {
  const status = cloneJson(pod.status) as PodStatus;
  const exitCode = restartsAlways(pod) ? 0 : EXIT_CODE_OF_TERMINATED;
  const end = (container: ContainerStatus): ContainerStatus =>
    container.state?.terminated ? container : stopped(container, nowMs, exitCode);
  const containerStatuses = (status.containerStatuses ?? []).map(end);
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  return { ...status, phase, conditions: conditionsOfEnded(pod, phase, toRfc3339(nowMs)), containerStatuses };
}

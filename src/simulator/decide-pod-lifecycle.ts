import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, sameJson, toDouble, asSent, writableCopy } from '@rollkeeper/machinery/kubernetes';
import type { ContainerStatus } from './container-status.js';
import { isStartedAgain } from './decide-container.js';
import { stopped } from './container-status.js';
import type { ContainersFacts } from './decide-containers.js';
import { decideContainers, stopSidecars, waitForMounts } from './decide-containers.js';
import type { NodeRoom } from './decide-resize.js';
import { decideResize, isDeferred, podResources, withResizeConditions } from './decide-resize.js';
import type { ContainerStop } from './decide-stop.js';
import { decideStops, stoppedBy } from './decide-stop.js';
import type { NodeVerdict } from './node-verdict.js';
import { endedByNode, rejectedByNode } from './node-verdict.js';
import { conditionsOfEnded, decidePodConditions, statusesOf } from './pod-conditions.js';
import { behaviourOf } from './pod-behaviour.js';

export interface PodLifecycleFacts extends Omit<ContainersFacts, 'resize'> {
  readonly terminationDelayMs: number;
  readonly hostIp: string;
  /** The pod's address; its existing one, if it has one. */
  readonly podIp: string;
  /** When the node started the pod, if known more precisely than to the second. */
  readonly podStartedMs?: number;
  /** The room that the node can give to the pod. @default all that it asks for */
  readonly room?: () => NodeRoom | undefined;
  /** When the node noticed the deletion. */
  readonly terminatingSinceMs?: number;
  /** Why the node does not take a pod that it has not started. @default it takes it */
  readonly admit?: () => NodeVerdict | undefined;
  /** Why the node ends the pod. @default it does not */
  readonly verdict?: NodeVerdict;
}

export type PodPlan =
  | { readonly action: 'rest'; readonly wakeAtMs?: number }
  | {
      readonly action: 'write-status';
      readonly status: PodStatus;
      readonly wakeAtMs?: number;
      /** The pulls that its containers wait for. */
      readonly pulls?: readonly string[];
    }
  /** Everything has stopped: delete the pod from the API. */
  | { readonly action: 'delete' };

/** Reason of a pod that exceeded `activeDeadlineSeconds`. */
export const DEADLINE_EXCEEDED = 'DeadlineExceeded';

/** Interval at which a kubelet retries a resize without room. It also retries when room may have become free. */
const RESIZE_RETRY_MS = 180_000;

type ReadablePod = DeepReadonly<Pod>;

/** The node's next step for `pod`. All lasting state is read from the pod itself. */
export function decidePodLifecycle(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(pod, facts);
  if (isPodFinished(pod)) return { action: 'rest' };
  const refusal = pod.status?.startTime === undefined ? facts.admit?.() : undefined;
  const rejection = behaviourOf(pod) === 'reject' ? OUT_OF_CPU : refusal;
  if (rejection) {
    const startTime = pod.status?.startTime ?? toRfc3339(facts.nowMs);
    return { action: 'write-status', status: rejectedByNode(pod, rejection, startTime) };
  }
  return facts.verdict ? carryOut(pod, facts.verdict, facts) : run(pod, facts);
}

const OUT_OF_CPU: NodeVerdict = { reason: 'OutOfcpu', message: "Node didn't have enough resource: cpu" };

/** Source: pkg/kubelet/active_deadline.go. */
const OVERDUE: NodeVerdict = {
  reason: DEADLINE_EXCEEDED,
  message: 'Pod was active on the node longer than the specified deadline',
};

/** The node ends a pod, which takes its time to stop. */
function carryOut(pod: ReadablePod, verdict: NodeVerdict, facts: PodLifecycleFacts): PodPlan {
  const { nowMs, terminationDelayMs } = facts;
  const { graceMs = 0, orderedMs = nowMs } = verdict;
  const stops = decideStops(pod, { graceMs, terminationDelayMs });
  const dueMs = orderedMs + Math.max(0, ...stops.map(({ afterMs }) => afterMs));
  if (nowMs < dueMs) return { action: 'rest', wakeAtMs: dueMs };
  const startTime = pod.status?.startTime ?? toRfc3339(nowMs);
  const exitCodes = new Map(graceMs > 0 ? stops.map(({ exitCode, name }) => [name, exitCode]) : []);
  return { action: 'write-status', status: endedByNode(pod, verdict, { startTime, nowMs, exitCodes }) };
}

function run(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  const startTime = pod.status?.startTime ?? toRfc3339(facts.nowMs);
  const podStartedMs =
    pod.status?.startTime === undefined ? facts.nowMs : (facts.podStartedMs ?? Date.parse(startTime));
  const deadlineMs = deadlineOf(pod, Date.parse(startTime));
  if (facts.nowMs >= deadlineMs) {
    const status = endedByNode(pod, OVERDUE, { startTime, nowMs: facts.nowMs });
    return { action: 'write-status', status };
  }
  const resize = decideResize(pod, facts.room);
  const hasSandbox = isStarted(pod) || (facts.missing?.mounts ?? []).length === 0;
  const {
    containers,
    ephemeralContainers,
    initContainers,
    isInitialized,
    pulls,
    wakeAtMs: nextMs = Infinity,
  } = hasSandbox ? decideContainers(pod, podStartedMs, { ...facts, resize }) : waitForMounts(pod);
  const phase = isInitialized ? phaseOf(pod, containers) : phaseBefore(pod, initContainers);
  const now = toRfc3339(facts.nowMs);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const statuses = {
    hasSandbox,
    containers,
    initContainers: isOver ? stopSidecars(initContainers, facts.nowMs) : initContainers,
  };
  const { generation } = pod.metadata;
  const status: PodStatus = {
    ...(pod.status && asSent<PodStatus>(pod.status)),
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    conditions: isOver
      ? conditionsOfEnded(pod, phase, now, isInitialized ? [] : statuses.initContainers)
      : withResizeConditions(decidePodConditions(pod, statuses, now), pod, resize, now),
    ...podResources(pod, resize),
    hostIP: facts.hostIp,
    hostIPs: [{ ip: facts.hostIp }],
    ...(hasSandbox && { podIP: facts.podIp, podIPs: [{ ip: facts.podIp }] }),
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
    : { action: 'write-status', status, wakeAtMs, ...(pulls.length > 0 && { pulls }) };
}

/** Whether a container of the pod has ever run: its volumes are mounted then. */
export function isStarted({ status = {} }: ReadablePod): boolean {
  return statusesOf(status).some(({ containerID }) => containerID !== undefined);
}

function deadlineOf({ spec }: ReadablePod, startedMs: number): number {
  const seconds = spec.activeDeadlineSeconds;
  return seconds === undefined ? Infinity : startedMs + toDouble(seconds) * 1_000;
}

/** The phase before all init containers have completed. A permanently failed one ends the pod. */
function phaseBefore({ spec }: ReadablePod, statuses: readonly ContainerStatus[]): 'Pending' | 'Failed' {
  const hasFailed = statuses.some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  return spec.restartPolicy === 'Never' && hasFailed ? 'Failed' : 'Pending';
}

/** Source: `getPhase` in k/k pkg/kubelet/kubelet_pods.go. */
function phaseOf(
  { spec }: ReadablePod,
  statuses: readonly ContainerStatus[],
): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  const unborn = statuses.some(({ state, lastState }) => state?.waiting && !lastState?.terminated);
  if (unborn) return 'Pending';
  const goesOn = ({ state }: ContainerStatus): boolean =>
    !state?.terminated || isStartedAgain(spec.restartPolicy, state.terminated.exitCode);
  if (statuses.length === 0 || statuses.some(goesOn)) return 'Running';
  return statuses.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/**
 * A pod is deleted when its containers have stopped. Those that stop before others are shown so; the final status is
 * only written if a finalizer will keep the pod.
 */
function terminate(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
  const graceMs = toDouble(deletionGracePeriodSeconds) * 1000;
  const sinceMs = facts.terminatingSinceMs ?? Date.parse(deletionTimestamp) - graceMs;
  const { nowMs, terminationDelayMs } = facts;
  const stops = decideStops(pod, { graceMs, terminationDelayMs });
  const dueMs = sinceMs + Math.max(0, ...stops.map(({ afterMs }) => afterMs));
  const isDue = deletionGracePeriodSeconds === 0 || nowMs >= dueMs;
  if (isDue && finalizers.length > 0 && !isPodFinished(pod) && pod.status?.containerStatuses?.length)
    return { action: 'write-status', status: ended(pod, stops, nowMs) };
  // With a grace period of 0 the server removes it once no finalizer holds it.
  if (deletionGracePeriodSeconds === 0) return { action: 'rest' };
  if (isDue) return { action: 'delete' };
  const next = stops.map(({ afterMs }) => sinceMs + afterMs).filter((atMs) => atMs > nowMs);
  const wakeAtMs = Math.min(...next);
  const status = partlyStopped(pod, stops, sinceMs, nowMs);
  return status ? { action: 'write-status', status, wakeAtMs } : { action: 'rest', wakeAtMs };
}

/** The status of a pod of which some containers have stopped; undefined if it says so already. */
function partlyStopped(
  pod: ReadablePod,
  stops: readonly ContainerStop[],
  sinceMs: number,
  nowMs: number,
): PodStatus | undefined {
  const status = writableCopy<PodStatus>(pod.status ?? {});
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const containers = stoppedBy(containerStatuses, stops, sinceMs, nowMs);
  const initContainers = stoppedBy(initContainerStatuses, stops, sinceMs, nowMs);
  const hasNews = (now: readonly ContainerStatus[], before: readonly ContainerStatus[]): boolean =>
    now.some((one, index) => one !== before[index]);
  if (!hasNews(containers, containerStatuses) && !hasNews(initContainers, initContainerStatuses))
    return undefined;
  const conditions = decidePodConditions(pod, { containers, initContainers }, toRfc3339(nowMs));
  return {
    ...status,
    conditions,
    containerStatuses: containers,
    ...(initContainers.length > 0 && { initContainerStatuses: initContainers }),
  };
}

/** The status of a pod whose containers have all stopped. */
function ended(pod: ReadablePod, stops: readonly ContainerStop[], nowMs: number): PodStatus {
  const status = writableCopy<PodStatus>(pod.status ?? {});
  const end = (one: ContainerStatus): ContainerStatus => {
    const exitCode = stops.find(({ name }) => name === one.name)?.exitCode ?? 0;
    return one.state?.terminated ? one : stopped(one, nowMs, exitCode);
  };
  const containerStatuses = (status.containerStatuses ?? []).map(end);
  const isWell = containerStatuses.every(({ state }) => state?.terminated?.exitCode === 0);
  const phase = isWell ? 'Succeeded' : 'Failed';
  return { ...status, phase, conditions: conditionsOfEnded(pod, phase, toRfc3339(nowMs)), containerStatuses };
}

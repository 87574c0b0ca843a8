import { findCondition, transitionTime, asSent, writableCopy } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import type { ContainerStatus } from './container-status.js';
import { stopped } from './container-status.js';
import { EXIT_CODE_OF_KILLED } from './pod-behaviour.js';
import { conditionsOfEnded, isConditionTrue } from './pod-conditions.js';
import type { PodCondition } from './pod-conditions.js';

/** Why a node ends one of its pods, or does not take it. */
export interface NodeVerdict {
  /** The reason in the status and in the Event. */
  readonly reason: string;
  readonly message: string;
  /** It is a disruption that budgets and Jobs ask about. @default false */
  readonly isDisruption?: boolean;
  /** When the node ordered it to stop, epoch milliseconds. @default it stops now */
  readonly orderedMs?: number;
  /** How long it may take to stop. @default 0 */
  readonly graceMs?: number;
}

/** Reason of a pod that was ended because its node shuts down. */
export const SHUT_DOWN = 'Terminated';

type ReadablePod = DeepReadonly<Pod>;

interface PodEnd {
  readonly startTime: string;
  readonly nowMs: number;
  /** The exit codes of containers that stopped in time, by name. @default all are killed */
  readonly exitCodes?: ReadonlyMap<string, number>;
}

/** A pod that its node has ended. Source: TerminatePod in k/k pkg/kubelet/status/status_manager.go. */
export function endedByNode(
  pod: ReadablePod,
  { isDisruption = false, message, reason }: NodeVerdict,
  { exitCodes, nowMs, startTime }: PodEnd,
): PodStatus {
  const status = writableCopy<PodStatus>(pod.status ?? {});
  const { containerStatuses = [], initContainerStatuses } = status;
  const isInitialized = !pod.spec.initContainers?.length || isConditionTrue(pod, 'Initialized');
  const end = (one: ContainerStatus): ContainerStatus => {
    if (one.state?.running) return stopped(one, nowMs, exitCodes?.get(one.name) ?? EXIT_CODE_OF_KILLED);
    return one.state?.terminated || !isInitialized ? one : lost(one);
  };
  const now = toRfc3339(nowMs);
  const unfinished = isInitialized ? [] : (initContainerStatuses ?? []);
  const conditions = conditionsOfEnded(pod, 'Failed', now, unfinished);
  return {
    ...status,
    phase: 'Failed',
    reason,
    message,
    startTime,
    conditions: isDisruption ? withDisruption(pod, conditions, message, now) : conditions,
    containerStatuses: containerStatuses.map(end),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(end) }),
  };
}

/** A pod that its node has not taken. Source: rejectPod in k/k pkg/kubelet/kubelet.go. */
export function rejectedByNode(
  pod: ReadablePod,
  { message, reason }: NodeVerdict,
  startTime: string,
): PodStatus {
  return {
    ...(pod.status && asSent<PodStatus>(pod.status)),
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    startTime,
  };
}

function withDisruption(
  pod: ReadablePod,
  conditions: readonly PodCondition[],
  message: string,
  now: string,
): PodCondition[] {
  const type = 'DisruptionTarget';
  const before = findCondition(conditions, type);
  const { generation } = pod.metadata;
  const disruption: PodCondition = {
    ...{ type, status: 'True', reason: 'TerminationByKubelet', message },
    lastTransitionTime: transitionTime(before, 'True', now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  return [...conditions.filter((one) => one !== before), disruption];
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

import { toRfc3339 } from '../base/clock/index.js';
import type { DeepReadonly, Pod, PodStatus } from '../base/kubernetes/index.js';
import { cloneJson, isPodFinished, sameJson, toDouble } from '../base/kubernetes/index.js';
import type { ContainerStatus } from './decide-container.js';
import { decideContainer, stopped } from './decide-container.js';
import { conditionsOfEnded, decidePodConditions } from './pod-conditions.js';
import {
  behaviourOf,
  containerBehaviour,
  containerEnd,
  readyAfterMs,
  restartsAlways,
} from './pod-behaviour.js';

export interface PodLifecycleFacts {
  readonly nowMs: number;
  readonly readyDelayMs: number;
  readonly terminationDelayMs: number;
  readonly hostIp: string;
  /** The pod's address; its own, if it has one already. */
  readonly podIp: string;
  /** Exact starts of containers by containerID; the API keeps whole seconds only. */
  readonly startedMs?: ReadonlyMap<string, number>;
  /** When the node saw that the pod shall go. */
  readonly terminatingSinceMs?: number;
}

export type PodPlan =
  | { readonly action: 'rest'; readonly wakeAtMs?: number }
  | { readonly action: 'write-status'; readonly status: PodStatus; readonly wakeAtMs?: number }
  /** Everything has stopped: take the pod out of the API. */
  | { readonly action: 'delete' };

type ReadablePod = DeepReadonly<Pod>;

/** What the node on which `pod` is does next. Everything that lasts is read from the pod itself. */
export function decidePodLifecycle(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  if (pod.metadata.deletionTimestamp !== undefined) return terminate(pod, facts);
  if (isPodFinished(pod)) return { action: 'rest' };
  if (behaviourOf(pod) === 'reject') return { action: 'write-status', status: rejected(pod, facts) };
  return run(pod, facts);
}

function run(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  const startTime = pod.status?.startTime ?? toRfc3339(facts.nowMs);
  const podStartedMs = pod.status?.startTime === undefined ? facts.nowMs : Date.parse(startTime);
  const behaviour = behaviourOf(pod);
  const plans = (pod.spec.containers ?? []).map((container) => {
    const image = container.image ?? '';
    const current = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
    return decideContainer({
      name: container.name,
      image,
      behaviour: containerBehaviour(behaviour, image),
      current,
      podUid: pod.metadata.uid ?? '',
      nowMs: facts.nowMs,
      podStartedMs,
      readyAfterMs: readyAfterMs(pod, facts.readyDelayMs),
      end: containerEnd(pod, container.name),
      restartPolicy: pod.spec.restartPolicy,
      startedMs: facts.startedMs?.get(current?.containerID ?? ''),
    });
  });
  const containerStatuses = plans.map(({ status }) => status);
  const phase = phaseOf(containerStatuses);
  const now = toRfc3339(facts.nowMs);
  const status: PodStatus = {
    ...(pod.status as PodStatus | undefined),
    phase,
    conditions:
      phase === 'Pending' || phase === 'Running'
        ? decidePodConditions(pod, containerStatuses, now)
        : conditionsOfEnded(pod, phase, now),
    hostIP: facts.hostIp,
    hostIPs: [{ ip: facts.hostIp }],
    podIP: facts.podIp,
    podIPs: [{ ip: facts.podIp }],
    startTime,
    containerStatuses,
    ...initContainerStatuses(pod, startTime),
  };
  const wakes = plans.flatMap(({ wakeAtMs }) => (wakeAtMs === undefined ? [] : [wakeAtMs]));
  const wakeAtMs = wakes.length === 0 ? undefined : Math.min(...wakes);
  return sameJson(status, pod.status)
    ? { action: 'rest', wakeAtMs }
    : { action: 'write-status', status, wakeAtMs };
}

/** Source: `getPhase` in k/k pkg/kubelet/kubelet_pods.go. What has ended and is started again says so by waiting. */
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
 * A pod goes when its containers have stopped. Where a finalizer will keep it, it first says that it has ended.
 */
function terminate(pod: ReadablePod, facts: PodLifecycleFacts): PodPlan {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
  if (finalizers.length > 0 && !isPodFinished(pod) && pod.status?.containerStatuses?.length) {
    return { action: 'write-status', status: ended(pod, facts.nowMs) };
  }
  // Without time left the server removes it by itself, as soon as no finalizer holds it.
  if (deletionGracePeriodSeconds === 0) return { action: 'rest' };
  const graceMs = toDouble(deletionGracePeriodSeconds) * 1000;
  const sinceMs = facts.terminatingSinceMs ?? Date.parse(deletionTimestamp) - graceMs;
  const dueMs = sinceMs + Math.min(facts.terminationDelayMs, graceMs);
  return facts.nowMs >= dueMs ? { action: 'delete' } : { action: 'rest', wakeAtMs: dueMs };
}

/** A server that is told to stop does so in good order; what was to come to an end by itself has not. */
const EXIT_CODE_OF_TERMINATED = 143;

function ended(pod: ReadablePod, nowMs: number): PodStatus {
  const status = cloneJson(pod.status) as PodStatus;
  const exitCode = restartsAlways(pod) ? 0 : EXIT_CODE_OF_TERMINATED;
  const containerStatuses = (status.containerStatuses ?? []).map((container) =>
    container.state?.terminated ? container : stopped(container, nowMs, exitCode),
  );
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  return { ...status, phase, conditions: conditionsOfEnded(pod, phase, toRfc3339(nowMs)), containerStatuses };
}

/** Init containers succeed at once. */
function initContainerStatuses(pod: ReadablePod, at: string): { initContainerStatuses?: ContainerStatus[] } {
  const containers = pod.spec.initContainers ?? [];
  if (containers.length === 0) return {};
  const initContainerStatuses = containers.map(({ name, image = '' }): ContainerStatus => {
    const terminated = { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at };
    const imageID = `simulated://${image}`;
    return {
      name,
      image,
      imageID,
      ready: true,
      started: false,
      restartCount: 0,
      state: { terminated },
      lastState: {},
    };
  });
  return { initContainerStatuses };
}

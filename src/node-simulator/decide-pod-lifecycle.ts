import { toRfc3339 } from '../base/clock/index.js';
import type { DeepReadonly, Pod, PodStatus } from '../base/kubernetes/index.js';
import { sameJson, toDouble } from '../base/kubernetes/index.js';
import type { ContainerStatus } from './decide-container.js';
import { decideContainer } from './decide-container.js';
import { decidePodConditions, notReadyBecausePodCompleted } from './pod-conditions.js';
import { behaviourOf, containerBehaviour, readyAfterMs } from './pod-behaviour.js';

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
  if (isTerminal(pod)) return { action: 'rest' };
  if (behaviourOf(pod) === 'reject') return { action: 'write-status', status: rejected(pod, facts) };
  return run(pod, facts);
}

export function isTerminal(pod: ReadablePod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
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
      startedMs: facts.startedMs?.get(current?.containerID ?? ''),
    });
  });
  const containerStatuses = plans.map(({ status }) => status);
  const status: PodStatus = {
    ...(pod.status as PodStatus | undefined),
    phase: phaseOf(containerStatuses),
    conditions: decidePodConditions(pod, containerStatuses, toRfc3339(facts.nowMs)),
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

/** Source: `getPhase` in k/k pkg/kubelet/kubelet_pods.go, for pods that restart always. */
function phaseOf(statuses: readonly ContainerStatus[]): 'Pending' | 'Running' {
  const unborn = statuses.some(({ state, lastState }) => state?.waiting && !lastState?.terminated);
  return unborn ? 'Pending' : 'Running';
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
  if (finalizers.length > 0 && !isTerminal(pod) && pod.status?.containerStatuses?.length) {
    return { action: 'write-status', status: ended(pod, facts.nowMs) };
  }
  // Without time left the server removes it by itself, as soon as no finalizer holds it.
  if (deletionGracePeriodSeconds === 0) return { action: 'rest' };
  const graceMs = toDouble(deletionGracePeriodSeconds) * 1000;
  const sinceMs = facts.terminatingSinceMs ?? Date.parse(deletionTimestamp) - graceMs;
  const dueMs = sinceMs + Math.min(facts.terminationDelayMs, graceMs);
  return facts.nowMs >= dueMs ? { action: 'delete' } : { action: 'rest', wakeAtMs: dueMs };
}

function ended(pod: ReadablePod, nowMs: number): PodStatus {
  const now = toRfc3339(nowMs);
  const status = structuredClone(pod.status) as PodStatus;
  return {
    ...status,
    phase: 'Succeeded',
    conditions: notReadyBecausePodCompleted(pod, now),
    containerStatuses: (status.containerStatuses ?? []).map((container) => ({
      ...container,
      ready: false,
      started: false,
      state: {
        terminated: {
          exitCode: 0,
          reason: 'Completed',
          startedAt: container.state?.running?.startedAt ?? now,
          finishedAt: now,
        },
      },
    })),
  };
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

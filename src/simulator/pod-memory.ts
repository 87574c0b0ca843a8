import type { DeepReadonly, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { isBackoffForgotten } from './decide-container.js';
import { statusesOf } from './pod-conditions.js';

/** Precise facts about a pod that the API does not hold. Losing them costs less than a second, or a backoff. */
export interface PodMemory {
  podStartedMs?: number;
  terminatingSinceMs?: number;
  /** The missing sources that have been recorded as Events. */
  toldMissing?: string;
  /** Since when objects are missing that the pod refers to. */
  missingSinceMs?: number;
  /** By containerID. */
  readonly startedMs: Map<string, number>;
  /** By `pullKey`. */
  readonly pullStartedMs: Map<string, number>;
  /** By container. */
  readonly forgottenRestarts: Map<string, number>;
}

export function newPodMemory(): PodMemory {
  return { startedMs: new Map(), pullStartedMs: new Map(), forgottenRestarts: new Map() };
}

/** Remembers what begins with a status that is about to be written over `before`. */
export function noteStatus(
  memory: PodMemory,
  before: DeepReadonly<PodStatus> | undefined,
  { pulls = [], status }: { readonly status: DeepReadonly<PodStatus>; readonly pulls?: readonly string[] },
  nowMs: number,
): void {
  if (before?.startTime === undefined) memory.podStartedMs = nowMs;
  for (const key of pulls) if (!memory.pullStartedMs.has(key)) memory.pullStartedMs.set(key, nowMs);
  for (const { containerID, lastState, name, restartCount, state } of statusesOf(status)) {
    if (containerID !== undefined && state?.running && !memory.startedMs.has(containerID))
      memory.startedMs.set(containerID, nowMs);
    const { finishedAt, startedAt } = lastState?.terminated ?? {};
    if (!state?.running || !startedAt || !finishedAt) continue;
    // The restart after it was the first of a new row.
    if (isBackoffForgotten(Date.parse(finishedAt) - Date.parse(startedAt)))
      memory.forgottenRestarts.set(name, restartCount - 1);
  }
}

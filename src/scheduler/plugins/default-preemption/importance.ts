import type { PodInfo } from '../../framework/node-info.js';

/** When the pod was started, in milliseconds; one that was not yet counts as the latest. */
export function startTimeOf({ pod }: PodInfo): number {
  const { startTime } = pod.status ?? {};
  return startTime === undefined ? Infinity : Date.parse(startTime);
}

/** The more important first: of higher priority, then the one that has run longer. */
export function byImportance(one: PodInfo, other: PodInfo): number {
  if (one.priority !== other.priority) return other.priority - one.priority;
  const started = startTimeOf(one);
  const otherStarted = startTimeOf(other);
  return started === otherStarted ? 0 : started - otherStarted;
}

import { parseDuration, renderDuration } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';
import { diedAtMs } from './pod-death.js';

type ReadablePod = DeepReadonly<Pod>;

/** How many failed pods stay, on a Deployment, as a default on its Namespace, or on what has pods without a Deployment. */
const FAILED_PODS = 'rollkeeper.dev/failed-pods';
/** The same on a ReplicaSet of a Deployment, kept up to date by the Deployment controller. */
export const FAILED_PODS_OF_OWNER = 'rollkeeper.dev/failed-pods-of-owner';

/** The limit of failed pods that stay. */
export interface FailedPodsRule {
  /** How many at most, the newest. */
  readonly keep: number;
  /** For how long after their death, milliseconds. @default for any time */
  readonly forMs?: number;
}

const RULE = /^keep (?<keep>\d{1,4})(?:, ?(?<age>[\w.]+))?$/;

/** `keep 3, 1h` or `keep 3`; undefined if it is neither. */
export function parseFailedPods(text: string): FailedPodsRule | undefined {
  const { age, keep } = RULE.exec(text)?.groups ?? {};
  if (keep === undefined) return undefined;
  if (age === undefined) return { keep: Number(keep) };
  const forMs = parseDuration(age);
  return forMs === undefined ? undefined : { keep: Number(keep), forMs };
}

/** A text that {@link parseFailedPods} reads. */
export function renderFailedPods({ forMs, keep }: FailedPodsRule): string {
  return forMs === undefined ? `keep ${keep}` : `keep ${keep}, ${renderDuration(forMs)}`;
}

/** The rule of a ReplicaSet; undefined: failed pods stay until the pod garbage collector removes them, as in Kubernetes. */
export function failedPodsRule(replicaSet: DeepReadonly<ReplicaSet>): FailedPodsRule | undefined {
  const name = controllerOf(replicaSet) ? FAILED_PODS_OF_OWNER : FAILED_PODS;
  return parseFailedPods((replicaSet.metadata.annotations?.[name] ?? '').trim());
}

/** The failed pods to delete, and when the next one becomes too old. */
export interface ExcessPods {
  readonly excess: readonly ReadablePod[];
  /** Milliseconds; undefined if none will. */
  readonly nextInMs?: number;
}

/** The failed pods that a rule does not keep. Those that are being deleted do not count. */
export function decideFailedPods(
  pods: readonly ReadablePod[],
  rule: FailedPodsRule | undefined,
  nowMs: number,
): ExcessPods {
  if (!rule) return { excess: [] };
  const failed = pods
    .filter(({ metadata, status }) => status?.phase === 'Failed' && metadata.deletionTimestamp === undefined)
    .map((pod) => ({ pod, diedMs: diedAtMs(pod) }))
    .sort((a, b) => b.diedMs - a.diedMs || (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1));
  const { forMs = Infinity, keep } = rule;
  const stays = failed.slice(0, keep).filter(({ diedMs }) => nowMs - diedMs < forMs);
  const leftMs = stays.map(({ diedMs }) => diedMs + forMs - nowMs);
  const nextInMs = Math.min(...leftMs);
  return {
    excess: failed.slice(stays.length).map(({ pod }) => pod),
    ...(Number.isFinite(nextInMs) && { nextInMs }),
  };
}

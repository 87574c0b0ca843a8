import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isRejectedByNode, parseTimeMs } from '../shared/index.js';
import type { CompiledReplicaSetControllerOptions } from './replicaset.options.js';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

type ReadablePod = DeepReadonly<Pod>;

export interface RejectionBackoff {
  /** Remaining delay of creations, milliseconds; above 0. */
  readonly remainingMs: number;
  /** The total delay, milliseconds. */
  readonly delayMs: number;
  /** Rejected pods since the last one that ran. */
  readonly rejections: number;
  /** The reason of the newest rejection. */
  readonly reason: string;
}

/**
 * Decides whether to delay creations because nodes keep rejecting this ReplicaSet's pods; otherwise pods are created as
 * fast as the API server accepts them (kubernetes#72593). Rejected pods stay in the API until they are collected, so
 * the series is derived from the cache and survives restarts.
 *
 * The delay doubles with each round (as many rejections as missing pods), measured from the newest rejection. Example,
 * 1 pod missing, base 1 s: after its 1st rejection 1 s, after the 4th 8 s, never more than the maximum.
 */
export function decideRejectionBackoff(input: {
  /** All pods of the ReplicaSet, including ended ones. */
  readonly pods: readonly ReadablePod[];
  readonly missing: number;
  readonly nowMs: number;
  readonly options: Pick<
    CompiledReplicaSetControllerOptions,
    'rejectionBackoffBaseMs' | 'rejectionBackoffMaxMs'
  >;
}): RejectionBackoff | undefined {
  const series = rejectionsSinceSuccess(input.pods);
  const newest = series.at(-1);
  if (!newest || input.missing <= 0) return undefined;
  const rounds = Math.ceil(series.length / input.missing);
  const { rejectionBackoffBaseMs, rejectionBackoffMaxMs } = input.options;
  const delayMs = doublingDelayMs(rounds - 1, {
    firstMs: rejectionBackoffBaseMs,
    longestMs: rejectionBackoffMaxMs,
  });
  const remainingMs = Math.min(rejectedAtMs(newest) + delayMs - input.nowMs, delayMs);
  if (remainingMs <= 0) return undefined;
  return { remainingMs, delayMs, rejections: series.length, reason: newest.status?.reason ?? '' };
}

/** Oldest first. A pod that ran after a rejection ends the series. */
function rejectionsSinceSuccess(pods: readonly ReadablePod[]): ReadablePod[] {
  const newestSuccessMs = pods
    .filter((pod) => pod.status?.phase === 'Running' || pod.status?.phase === 'Succeeded')
    .reduce((newest, pod) => Math.max(newest, createdAtMs(pod)), 0);
  return pods
    .filter((pod) => isRejectedByNode(pod) && createdAtMs(pod) > newestSuccessMs)
    .sort((a, b) => rejectedAtMs(a) - rejectedAtMs(b));
}

function createdAtMs(pod: ReadablePod): number {
  return parseTimeMs(pod.metadata.creationTimestamp) ?? 0;
}

/** The latest time in the pod: a rejecting kubelet records no time of its own. */
function rejectedAtMs(pod: ReadablePod): number {
  const times = (pod.status?.conditions ?? []).map((condition) => parseTimeMs(condition.lastTransitionTime));
  return Math.max(createdAtMs(pod), ...times.map((time) => time ?? 0));
}

import { counted } from '@rollkeeper/machinery/text';
import { ABANDON_AFTER_MS } from '@rollkeeper/runtime/controller';
import type { PodState } from '@rollkeeper/controllers/shared';
import { failureBackOffOf } from '@rollkeeper/controllers/shared';
import type { ExplainInput, QueueKnowledge } from './explain-input.js';
import type { Finding } from './explanation.js';
import type { ReplicaSetFacts } from './rollout-facts.js';

interface QueuedKey {
  readonly controller: 'deployment' | 'replicaset';
  /** `namespace/name`. */
  readonly key: string;
  /** How a sentence begins, for example `its`. */
  readonly whose: string;
  /** The changes that bring a parked key back. */
  readonly broughtBackBy: string;
}

/** The findings that delay a key: a hanging sync, the retry after a failure, or a dependency. */
export function queueFindings(queued: QueuedKey, queue: QueueKnowledge, nowMs: number): Finding[] {
  return [...overdueFindings(queued, queue, nowMs), ...failureFindings(queued, queue, nowMs)];
}

function overdueFindings({ whose }: QueuedKey, { overdue }: QueueKnowledge, nowMs: number): Finding[] {
  if (!overdue) return [];
  const { overdueSinceMs, replica, sinceMs } = overdue;
  const letGoMs = overdueSinceMs + ABANDON_AFTER_MS;
  const began = `${whose} sync on ${replica}, started ${secondsAgo(sinceMs, nowMs)}, exceeded its timeout and was cancelled ${secondsAgo(overdueSinceMs, nowMs)}`;
  return [
    nowMs < letGoMs
      ? {
          cause: 'sync-timeout',
          severity: 'waits',
          summary: began,
          unblockedBy: [`its end; otherwise the key is released ${inSeconds(letGoMs, nowMs)}`],
        }
      : {
          cause: 'sync-timeout',
          severity: 'note',
          summary: `${began}; it is still running but may not write, and its key was released`,
          unblockedBy: [`a restart of ${replica} ends it`],
        },
  ];
}

function failureFindings(
  { broughtBackBy, controller, key, whose }: QueuedKey,
  { parked, retry }: QueueKnowledge,
  nowMs: number,
): Finding[] {
  if (parked) {
    const next = parked.nextTryMs === undefined ? '' : `; next try ${inSeconds(parked.nextTryMs, nowMs)}`;
    return [
      {
        cause: 'parked',
        severity: 'blocked',
        summary: `${whose} key has been parked for ${seconds(parked.parkedAtMs, nowMs)} after ${parked.retries} retries${next}: ${parked.error}`,
        unblockedBy: isOfQuota(parked.error)
          ? [FREE_QUOTA]
          : [broughtBackBy, `rollkeeper queue unpark ${controller} ${key}, once the cause is resolved`],
      },
    ];
  }
  if (!retry || retry.failures === 0) return [];
  const when = retry.dueMs === undefined ? '' : `; next try ${inSeconds(retry.dueMs, nowMs)}`;
  const why = retry.error === undefined ? '' : `: ${retry.error}`;
  const summary = `${whose} sync failed ${retry.failures} times in a row${when}${why}`;
  return [{ cause: 'retrying', severity: 'waits', summary, unblockedBy: ['the next try'] }];
}

/** A quota that has room again brings back what it refused. */
export const FREE_QUOTA = 'raise the ResourceQuota, or reduce the usage: the key is then retried by itself';

/** Whether a quota refused a write, as the API words it. */
export function isOfQuota(error: string): boolean {
  return /exceeded quota: /i.test(error);
}

const DEAD: ReadonlySet<PodState> = new Set(['finished', 'overdue', 'rejected', 'terminating']);

/** Why the ReplicaSet controller delays its next attempt to create pods. */
export function replicaSetQueueFindings(
  { deployment, nowMs, replicaSetQueues }: ExplainInput,
  { draft, name, nextSize, pods, role }: ReplicaSetFacts,
): Finding[] {
  const queue = replicaSetQueues?.get(name);
  if (!queue) return [];
  const key = {
    controller: 'replicaset',
    key: `${deployment.metadata.namespace}/${name}`,
    whose: `ReplicaSet ${name}: its`,
    broughtBackBy: 'a change of its size or template, for example kubectl rollout restart',
  } as const;
  const found = queueFindings(key, queue, nowMs).map((finding): Finding =>
    role === 'new' ? finding : { ...finding, severity: 'note' },
  );
  const rejected = pods.filter(({ state }) => state === 'rejected').length;
  const living = pods.filter(({ state }) => !DEAD.has(state)).length;
  const failing = failureBackOffOf(draft.observed?.status);
  const isHeldBack = found.length === 0 && (rejected > 0 || failing !== undefined) && living < nextSize;
  if (!isHeldBack || queue.comesBackMs === undefined) return found;
  const why =
    rejected > 0 ? `nodes rejected ${counted(rejected, 'pod')} of ${name}` : `${name}: ${failing ?? ''}`;
  const summary = `${why}; the next are created ${inSeconds(queue.comesBackMs, nowMs)}`;
  return [
    { cause: 'rejection-backoff', severity: 'waits', summary, unblockedBy: ['a pod that becomes ready'] },
  ];
}

/** `12 s` */
function seconds(sinceMs: number, nowMs: number): string {
  return `${Math.max(0, Math.round((nowMs - sinceMs) / 1000))} s`;
}

function secondsAgo(sinceMs: number, nowMs: number): string {
  return `${seconds(sinceMs, nowMs)} ago`;
}

/** `in 12 s`, rounded up. */
function inSeconds(dueMs: number, nowMs: number): string {
  return `in ${Math.max(0, Math.ceil((dueMs - nowMs) / 1000))} s`;
}

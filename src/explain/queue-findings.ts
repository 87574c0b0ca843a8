import type { ExplainInput, QueueKnowledge } from './explain-input.js';
import type { Finding } from './explanation.js';
import type { ReplicaSetFacts } from './rollout-facts.js';

interface QueuedKey {
  readonly controller: 'deployment' | 'replicaset';
  /** `namespace/name`. */
  readonly key: string;
  /** How a sentence begins, for example `its`. */
  readonly whose: string;
  /** Which changes bring a parked key back. */
  readonly broughtBackBy: string;
}

/** What the queue says of a key that failed: that it waits for the next try, or for somebody. */
export function queueFindings(
  { broughtBackBy, controller, key, whose }: QueuedKey,
  { parked, retry }: QueueKnowledge,
  nowMs: number,
): Finding[] {
  if (parked) {
    const ago = Math.max(0, Math.round((nowMs - parked.parkedAtMs) / 1000));
    const next = parked.nextTryMs === undefined ? '' : `; next try ${inSeconds(parked.nextTryMs, nowMs)}`;
    return [
      {
        cause: 'parked',
        severity: 'blocked',
        summary: `${whose} key is parked since ${ago} s after ${parked.retries} retries${next}: ${parked.error}`,
        unblockedBy: [broughtBackBy, `rollkeeper queue unpark ${controller} ${key}, once the cause is gone`],
      },
    ];
  }
  if (!retry || retry.failures === 0) return [];
  const when = retry.dueMs === undefined ? '' : `; next try ${inSeconds(retry.dueMs, nowMs)}`;
  const summary = `${whose} sync failed ${retry.failures} times in a row${when}`;
  return [{ cause: 'retrying', severity: 'waits', summary, unblockedBy: ['the next try'] }];
}

/** Why the ReplicaSet controller lets some time pass before it tries to create pods again. */
export function replicaSetQueueFindings(
  { deployment, nowMs, replicaSetQueues }: ExplainInput,
  { name, nextSize, pods, role }: ReplicaSetFacts,
): Finding[] {
  const queue = replicaSetQueues?.get(name);
  if (!queue) return [];
  const key = {
    controller: 'replicaset',
    key: `${deployment.metadata.namespace}/${name}`,
    whose: `ReplicaSet ${name}: its`,
    broughtBackBy: 'another size or template, for example kubectl rollout restart',
  } as const;
  const found = queueFindings(key, queue, nowMs).map((finding): Finding =>
    role === 'new' ? finding : { ...finding, severity: 'note' },
  );
  const rejected = pods.filter(({ state }) => state === 'rejected').length;
  const isHeldBack = found.length === 0 && rejected > 0 && pods.length - rejected < nextSize;
  if (!isHeldBack || queue.comesBackMs === undefined) return found;
  const summary = `nodes sent back ${rejected} pods of ${name}; the next are created ${inSeconds(queue.comesBackMs, nowMs)}`;
  return [{ cause: 'rejection-backoff', severity: 'waits', summary, unblockedBy: ['a pod that may run'] }];
}

/** `in 12 s`, rounded up. */
function inSeconds(dueMs: number, nowMs: number): string {
  return `in ${Math.max(0, Math.ceil((dueMs - nowMs) / 1000))} s`;
}

import { counted } from '@rollkeeper/machinery/text';
import type { QueueAnswer } from '../../admin/server/index.js';
import { FREE_QUOTA, isOfQuota } from '../../insight/explain/index.js';
import type { Asked, Finding } from './finding.js';
import { ok, orElse, skipped, warning } from './finding.js';

/** The same as of the alert RollkeeperQueueDeep. */
const DEEP = 1000;
const SHOWN_KEYS = 3;

/** A queue; its keys only where some are parked. */
export interface QueueFacts extends Pick<QueueAnswer, 'controller' | 'counts'> {
  readonly parked?: QueueAnswer['parked'];
}

export function decideQueues(asked: Asked<readonly QueueFacts[]>): readonly Finding[] {
  if (asked.is === 'not-asked') return [skipped('queues', `the queues were not read: ${asked.why}`)];
  if (asked.is === 'unanswered') return [skipped('queues', `the queues could not be read: ${asked.why}`)];
  const queues = asked.value;
  const waiting = queues.reduce((sum, { counts }) => sum + counts.waiting, 0);
  return orElse(
    queues.flatMap((queue) => [...decideParked(queue), ...decideDepth(queue)]),
    ok('queues', `no key is parked, ${waiting} wait`),
  );
}

function decideParked({ controller, counts, parked = [] }: QueueFacts): readonly Finding[] {
  if (counts.parked === 0) return [];
  const shown = parked.slice(0, SHOWN_KEYS).map(({ error, key }) => `${key} (${error})`);
  const more = counts.parked - shown.length;
  const keys = [...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ');
  return [
    warning(
      'queues',
      `${counted(counts.parked, 'key')} of ${controller} ${counts.parked === 1 ? 'is' : 'are'} parked: ${keys}`,
      remedyOf(controller, parked),
    ),
  ];
}

/** The remedy for the first key that someone has to bring back. */
function remedyOf(controller: string, parked: NonNullable<QueueFacts['parked']>): string {
  const byHand = parked.find(({ error }) => !isOfQuota(error));
  if (parked.length > 0 && !byHand) return FREE_QUOTA;
  return `correct the object that fails, then \`rollkeeper queue requeue ${controller} ${byHand?.key ?? 'KEY'}\``;
}

function decideDepth({ controller, counts }: QueueFacts): readonly Finding[] {
  if (counts.waiting <= DEEP) return [];
  return [
    warning(
      'queues',
      `${counts.waiting} keys of ${controller} wait`,
      'after a failover this is temporary; if it persists, use more --workers, more replicas, or a faster API server',
    ),
  ];
}

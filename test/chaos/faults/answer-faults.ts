import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerFault } from '../api-fault-proxy.js';
import { anyReplica, theLeader } from './process-faults.js';
import type { Fault } from './fault.js';
import { between } from './fault.js';

const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** For a while, a share of a replica's requests is answered so. */
export function answer(fault: Omit<AnswerFault, 'share'>): Fault {
  return async (context) => {
    const replica = await anyReplica(context);
    if (!replica) return;
    context.began(replica.name);
    replica.apiAnswers.answerWith({ ...fault, share: 0.2 + 0.8 * ((context.dice * 7) % 1) });
    await pause(between(1000, 6000, context.strength));
    replica.apiAnswers.heal();
  };
}

export const answer409 = answer({
  kind: 'status',
  status: 409,
  reason: 'Conflict',
  methods: ['PUT', 'PATCH'],
});
export const answer429 = answer({
  kind: 'status',
  status: 429,
  reason: 'TooManyRequests',
  retryAfterSeconds: 1,
});
export const answer500 = answer({ kind: 'status', status: 500 });
export const answer500Afterwards = answer({ kind: 'status', status: 500, methods: WRITES, afterwards: true });
export const answer503 = answer({ kind: 'status', status: 503, reason: 'ServiceUnavailable' });
export const halfSent = answer({ kind: 'half-sent' });
export const hangBefore = answer({ kind: 'hang' });
export const hangAfter = answer({ kind: 'hang', methods: WRITES, afterwards: true });

/** The leader does everything, and cannot say that it does: its renewals are on their way for longer than its lease lasts. */
export const leaseWritesHang: Fault = async (context) => {
  const leader = await theLeader(context);
  if (!leader) return;
  context.began(leader.name);
  leader.apiAnswers.answerWith({ kind: 'hang', methods: ['PUT'], paths: /\/leases\//, share: 1 });
  await pause(between(1000, 8000, context.strength));
  leader.apiAnswers.heal();
};

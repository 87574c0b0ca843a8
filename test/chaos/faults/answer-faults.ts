import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerFault } from '../set/replica-answers.js';
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

const refusal = (code: number, reason = 'InternalError') => ({ kind: 'status', code, reason }) as const;
const SILENCE = { kind: 'silence' } as const;

export const answer409 = answer({ answer: refusal(409, 'Conflict'), methods: ['PUT', 'PATCH'] });
export const answer429 = answer({ answer: { ...refusal(429, 'TooManyRequests'), retryAfterSeconds: 1 } });
export const answer500 = answer({ answer: refusal(500) });
export const answer500Afterwards = answer({ answer: refusal(500), methods: WRITES, afterwards: true });
export const answer503 = answer({ answer: refusal(503, 'ServiceUnavailable') });
export const halfSent = answer({ answer: { kind: 'half-sent' } });
export const hangBefore = answer({ answer: SILENCE });
export const hangAfter = answer({ answer: SILENCE, methods: WRITES, afterwards: true });

/** The leader does everything, and cannot say that it does: its renewals are on their way for longer than its lease lasts. */
export const leaseWritesHang: Fault = async (context) => {
  const leader = await theLeader(context);
  if (!leader) return;
  context.began(leader.name);
  leader.apiAnswers.answerWith({ answer: SILENCE, methods: ['PUT'], paths: /\/leases\//, share: 1 });
  await pause(between(1000, 8000, context.strength));
  leader.apiAnswers.heal();
};

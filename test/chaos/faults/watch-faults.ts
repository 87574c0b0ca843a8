import { setTimeout as pause } from 'node:timers/promises';
import { anyReplica } from './process-faults.js';
import type { Fault } from './fault.js';
import { between } from './fault.js';

export const cutWatches: Fault = async (context) => {
  const replica = await anyReplica(context);
  if (!replica) return;
  context.began(replica.name);
  for (let cuts = 0; cuts < 3; cuts++) {
    replica.apiAnswers.cutWatches();
    await pause(700);
  }
};

export const delayWatches: Fault = async (context) => {
  const replica = await anyReplica(context);
  if (!replica) return;
  context.began(replica.name);
  const delayMs = between(1000, 5000, Math.min(context.strength * 20, 1));
  replica.apiAnswers.watchWith({ kind: 'delay', delayMs });
  await pause(delayMs);
  replica.apiAnswers.heal();
  await pause(delayMs);
};

export const endWatchesBy410: Fault = async (context) => {
  const replica = await anyReplica(context);
  if (!replica) return;
  context.began(replica.name);
  replica.apiAnswers.watchWith({ kind: 'gone' });
  await pause(1000);
  replica.apiAnswers.heal();
};

import { setTimeout as pause } from 'node:timers/promises';
import type { Choose } from './process-faults.js';
import { anyReplica, theLeader } from './process-faults.js';
import type { Fault } from './fault.js';
import { between } from './fault.js';

/** Longer than any lock or lease lasts. */
const SHORTEST_BLOCK_MS = 3000;
const LONGEST_BLOCK_MS = 5000;
const HOUR_MS = 3_600_000;

/** Nothing runs in the process for 5 s: a long garbage collection, a blocking call. */
export const blockEventLoop: Fault = async (context) => {
  const replica = await anyReplica(context);
  if (!replica) return;
  context.began(replica.name);
  // The longest is chosen almost always; the shortest only if a greater strength asks for it.
  const ms = between(SHORTEST_BLOCK_MS, LONGEST_BLOCK_MS, Math.min(context.strength * 20, 1));
  replica.process.send({ chaos: 'block', ms });
  await pause(ms + 200);
};

/** The wall clock jumps by an hour, and back again a while later. */
export const stepClock = (direction: 1 | -1): Fault => stepClockOf(anyReplica, () => direction * HOUR_MS);

/** The clock by which a leader dates its renewals jumps by about as long as its lease lasts. */
export const stepLeaderClock = (direction: 1 | -1): Fault =>
  stepClockOf(theLeader, (strength) => direction * between(500, 5000, strength));

function stepClockOf(choose: Choose, stepMs: (strength: number) => number): Fault {
  return async (context) => {
    const replica = await choose(context);
    if (!replica) return;
    context.began(replica.name);
    replica.process.send({ chaos: 'step', ms: stepMs(context.strength) });
    await pause(between(2000, 10_000, context.strength));
    replica.process.send({ chaos: 'step', ms: 0 });
    await pause(200);
  };
}

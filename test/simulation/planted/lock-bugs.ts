import type { ModelBug } from './planted-bug.js';

const HOLD = 'src/machinery/concurrency/held-lock.ts';
const STORE = 'src/runtime/activation/stored-lock.ts';

export const LOCK_BUGS: readonly ModelBug[] = [
  {
    name: 'unlock-without-token',
    breaks: 'A release or a renewal without the right token has an effect',
    model: 'lock',
    withinFaults: 1,
    file: STORE,
    from: 'return lock?.token === proof.token && lock.owner === proof.owner;',
    to: 'return lock?.owner !== undefined && proof.token > 0;',
  },
  {
    name: 'token-alone-counts',
    breaks: 'A token counts without its owner, although tokens repeat in a store that has lost its data',
    model: 'lock',
    withinFaults: 2,
    file: STORE,
    from: 'return lock?.token === proof.token && lock.owner === proof.owner;',
    to: 'return lock?.token === proof.token;',
  },
  {
    name: 'lock-without-margin',
    breaks: 'A run trusts its lock until the very end, so that a slow clock makes two runs',
    model: 'lock',
    withinFaults: 2,
    file: HOLD,
    from: 'const SAFETY_SHARE = 0.05;',
    to: 'const SAFETY_SHARE = 0;',
  },
  {
    name: 'lock-counts-from-its-answer',
    breaks: 'A lock counts from when its answer came, and not from when it was asked for',
    model: 'lock',
    withinFaults: 2,
    file: HOLD,
    from: 'const untilMs = sentAtMs + durationMs * (1 - SAFETY_SHARE);',
    to: 'const untilMs = Math.max(nowMs, sentAtMs) + durationMs * (1 - SAFETY_SHARE);',
  },
  {
    name: 'writes-after-expiry',
    breaks: 'A run goes on under a lock that ended while its process was paused',
    model: 'lock',
    withinFaults: 1,
    file: HOLD,
    from: 'return hold.isOver || nowMs < hold.untilMs ? hold : { ...hold, isOver: true };',
    to: 'return hold.isOver || nowMs < hold.untilMs ? hold : { ...hold };',
  },
  {
    name: 'lock-never-expires',
    breaks: 'The key of a killed run stays locked forever',
    model: 'lock',
    withinFaults: 1,
    file: STORE,
    from: 'Math.max(lockedUntilMs - nowMs, 0);',
    to: 'Math.max(lockedUntilMs - nowMs, 1);',
  },
  {
    name: 'lock-given-twice',
    breaks: 'A lock is given although another run has it',
    model: 'lock',
    withinFaults: 0,
    file: STORE,
    from: 'Math.max(lockedUntilMs - nowMs, 0);',
    to: 'Math.min(lockedUntilMs - nowMs, 0);',
  },
];

import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosReplica } from '../set/replica.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import type { Fault, FaultContext } from './fault.js';
import { between, chosen } from './fault.js';

export type Choose = (context: FaultContext) => Promise<ChaosReplica | undefined>;

export const theLeader: Choose = ({ set }) => set.leader();
export const aFollower: Choose = async ({ dice, set }) => chosen(await set.followers(), dice);
export const anyReplica: Choose = async ({ dice, set }) => chosen(set.replicas, dice);

/** How long a replica may take to end after it was asked to: its running keys, and some for a busy machine. */
const STOP_WITHIN_MS = 12_000;
/** How long a process may take to be back: far more than it takes to start. */
const BACK_WITHIN_MS = 60_000;
const LONGEST_PAUSE_MS = 30_000;

/** Ends a replica's process; over when it is back and ready. */
export function endReplica(choose: Choose, signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return async (context) => {
    const replica = await choose(context);
    if (!replica) return;
    const { pid } = replica.process;
    context.began(replica.name);
    replica.process.signal(signal);
    const isGone = (): boolean => replica.process.pid !== pid;
    // Another fault may have paused it: the signal then waits for it to go on.
    await waitFor(() => isGone() || !replica.process.isSuspended, { timeoutMs: 2 * LONGEST_PAUSE_MS });
    const timeoutMs = STOP_WITHIN_MS * context.patience;
    await waitFor(isGone, { timeoutMs }).catch(() => {
      replica.process.signal('SIGUSR2');
      context.failed(`${replica.name} was still there ${timeoutMs} ms after ${signal}`);
    });
    await waitFor(async () => replica.process.pid !== pid && replica.isReady(), {
      timeoutMs: BACK_WITHIN_MS * context.patience,
      intervalMs: 50,
      what: `${replica.name} to be back`,
    });
  };
}

/** Stops a process in its tracks and lets it go on where it was, up to half a minute later. */
export function pauseReplica(choose: Choose): Fault {
  return async (context) => {
    const replica = await choose(context);
    if (!replica) return;
    context.began(replica.name);
    replica.process.signal('SIGSTOP');
    await pause(between(1000, LONGEST_PAUSE_MS, context.strength ** 2));
    replica.process.signal('SIGCONT');
    await pause(200);
  };
}

/** Ends the scheduler that schedules; over when its process is back. Where none is a process of its own, nothing is done. */
export function endScheduler(signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return async (context) => {
    const scheduler = await context.set.leadingScheduler();
    if (!scheduler) return;
    const { pid } = scheduler;
    context.began(scheduler.name);
    scheduler.signal(signal);
    await waitFor(() => scheduler.pid !== pid && scheduler.isReady, {
      timeoutMs: BACK_WITHIN_MS * context.patience,
      what: `${scheduler.name} to be back`,
    });
  };
}

/** Stops the scheduler in its tracks: it goes on where it was, maybe after another one has taken its place. */
export const pauseScheduler: Fault = async ({ began, set, strength }) => {
  const scheduler = await set.leadingScheduler();
  if (!scheduler) return;
  began(scheduler.name);
  scheduler.signal('SIGSTOP');
  await pause(between(1000, LONGEST_PAUSE_MS, strength));
  scheduler.signal('SIGCONT');
  await pause(200);
};

const LONGEST_WAIT_FOR_WORK_MS = 3000;

/** As {@link pauseReplica}, in the middle of a write: the request is on its way, its answer will wait. */
export function pauseInWrite(choose: Choose): Fault {
  return async (context) => {
    const replica = await choose(context);
    if (!replica) return;
    const { apiAnswers } = replica;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LONGEST_WAIT_FOR_WORK_MS);
      apiAnswers.onWrite = () => {
        clearTimeout(timer);
        apiAnswers.onWrite = undefined;
        replica.process.signal('SIGSTOP');
        resolve();
      };
    });
    apiAnswers.onWrite = undefined;
    context.began(replica.name);
    replica.process.signal('SIGSTOP');
    await pause(between(1000, LONGEST_PAUSE_MS, context.strength ** 2));
    replica.process.signal('SIGCONT');
    await pause(200);
  };
}

export function endApiServer(signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return async ({ began, patience, set }) => {
    const { apiServer } = set;
    const { pid } = apiServer;
    began('API server');
    apiServer.signal(signal);
    await waitFor(() => apiServer.pid !== pid && apiServer.isReady, {
      timeoutMs: BACK_WITHIN_MS * patience,
      what: 'the API server to be back',
    });
  };
}

export function endRedis(signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return async (context) => {
    const { began, patience, set } = context;
    const pid = set.redisServer.pid();
    if (!pid) return;
    began('Redis');
    signalUnlessGone(pid, signal);
    await waitFor(() => set.redisServer.pid() !== pid, {
      timeoutMs: BACK_WITHIN_MS * patience,
      what: 'a new Redis',
    });
    await untilRedisAnswers(context);
  };
}

/** Another fault may have ended it a moment ago: then it is on its way back already. */
function signalUnlessGone(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function untilRedisAnswers({ patience, set }: FaultContext): Promise<void> {
  await waitFor(async () => (await set.redis.ping().catch(() => '')) === 'PONG', {
    timeoutMs: BACK_WITHIN_MS * patience,
    what: 'Redis to answer',
  });
}

/** The servers that take writes die, `times` of them, one after the other. */
export function failOverRedis(times: number): Fault {
  return async ({ began, set, strength }) => {
    const outMs = between(0, 2000, strength);
    await set.failOver(outMs, () => began('Redis'));
    for (let count = 1; count < times; count++) await set.failOver(outMs, () => undefined);
  };
}

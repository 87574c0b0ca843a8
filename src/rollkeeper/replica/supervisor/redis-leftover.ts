import { Redis, ReplyError } from 'ioredis';
import { abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { describeRedis } from '@rollkeeper/redis/connection';

/** A server that a killed run may have left behind. */
interface RedisLeftover {
  /** With the password of this data folder. */
  readonly url: string;
  readonly pid: number;
}

interface LeftoverPatience {
  /**
   * How long to ask an existing one to end, milliseconds: it may be blocked, or writing to a slow disk. @default 20000
   */
  readonly patienceMs?: number;
  /** Timeout of one command, milliseconds. @default 2000 */
  readonly answerMs?: number;
}

const RETRY_MS = 200;

/** The result of one attempt. */
type Attempt =
  /** It has ended, or the port is unused, or used by an unrelated process. */
  | { readonly kind: 'gone' }
  /** A server with another password. */
  | { readonly kind: 'locked' }
  /** A server that does not answer or does not end; whether we know that it is ours. */
  | { readonly kind: 'stays'; readonly why: string; readonly isOurs: boolean };

/**
 * Stops the server if its data folder is `dir`: ours, left over from a killed run. Resolves once it has ended.
 * @throws StartupError if a process of ours does not accept the password, does not answer or does not end: two servers
 *   on one data folder would corrupt it
 */
export async function shutDownRedisOf(
  dir: string,
  { pid, url }: RedisLeftover,
  clock: Clock,
  { answerMs = 2000, patienceMs = 20_000 }: LeftoverPatience = {},
): Promise<void> {
  const deadlineMs = clock.monotonicNow() + patienceMs;
  for (;;) {
    const attempt = await tryShutDown(dir, url, answerMs);
    if (attempt.kind === 'gone') return;
    const isOurs = attempt.kind === 'stays' && attempt.isOurs;
    // An unrelated process may have taken the port after ours ended.
    if (!isOurs && !isOurProcess(pid)) return;
    if (attempt.kind === 'locked') throw leftBehind(pid, url, `does not take the password kept for ${dir}`);
    if (clock.monotonicNow() >= deadlineMs) throw leftBehind(pid, url, `does not end (${attempt.why})`);
    await clock.sleep(RETRY_MS);
  }
}

function leftBehind(pid: number, url: string, why: string): StartupError {
  return new StartupError(
    `a Redis of a former run (process ${pid}) is still there at ${describeRedis(url)} and ${why}; end it first`,
  );
}

/** Whether a process with this id runs, and is this user's. */
function isOurProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function tryShutDown(dir: string, url: string, answerMs: number): Promise<Attempt> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: answerMs,
    commandTimeout: answerMs,
    maxRetriesPerRequest: 0,
    // A server still loading its data has to end as well.
    enableReadyCheck: false,
  });
  let cause: Error | undefined;
  redis.on('error', (error) => (cause ??= error));
  try {
    await redis.connect();
    const [, itsDir] = await redis.config('GET', 'dir');
    return itsDir === dir ? await end(redis, answerMs) : { kind: 'gone' };
  } catch (error) {
    return judge(cause ?? error);
  } finally {
    redis.disconnect();
  }
}

/** It does not answer when it ends: its connections close with the process, after the last byte of its files. */
async function end(redis: Redis, answerMs: number): Promise<Attempt> {
  const closed = new Promise<void>((resolve) => redis.once('end', () => resolve()));
  const refusal = redis.shutdown().then(() => undefined, errorMessage);
  try {
    await abortable(closed, AbortSignal.timeout(answerMs));
    return { kind: 'gone' };
  } catch {
    return { kind: 'stays', why: (await refusal) ?? 'it goes on', isOurs: true };
  }
}

function judge(error: unknown): Attempt {
  const why = errorMessage(error);
  if (/NOAUTH|WRONGPASS/.test(why)) return { kind: 'locked' };
  const isForeign = error instanceof ReplyError || /Protocol error|Unknown RESP type|ECONNREFUSED/.test(why);
  // A server loading its data, or running a script, is as busy as one that does not answer.
  if (isForeign && !/LOADING|BUSY/.test(why)) return { kind: 'gone' };
  return { kind: 'stays', why, isOurs: false };
}

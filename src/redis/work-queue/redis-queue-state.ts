import type { RandomSource } from '@rollkeeper/machinery/clock';
import { uuidOf } from '@rollkeeper/machinery/clock';
import { SupersededError, errorMessage } from '@rollkeeper/machinery/errors';
import type { LuaCall, RedisConnection } from '../connection/index.js';
import { LuaScript, SharedSteps, answeredOnce, pairsOf, runInOneStep } from '../connection/index.js';
import { traceTextOf } from '@rollkeeper/runtime/work-queue/merge-traces';
import type { PendingAdd } from '@rollkeeper/runtime/work-queue/pending-add';
import { PRIORITY_RANK, parsePending } from '@rollkeeper/runtime/work-queue/pending-add';
import type { QueueStateKeys, WakeUpKeys } from './redis-queue-view.js';
import type { BegunReply, TakeReply } from './begin-run.js';
import { beginRun } from './begin-run.js';
import { RedisQueueView } from './redis-queue-view.js';
import type { CompiledWorkQueueOptions } from '@rollkeeper/runtime/work-queue/work-queue.options';
import type { AddOptions, LeaderTerm } from '@rollkeeper/runtime/work-queue/work-queue';

/** Longer error texts are truncated. */
const MAX_ERROR_LENGTH = 2000;
/** How often the server's time is noted in a queue with timers, milliseconds: a write each time. */
const CLOCK_NOTED_EVERY_MS = 2000;
/** A clock that goes back by less delays timers by less, milliseconds. Servers of one installation differ by as much. */
const CLOCK_MAY_GO_BACK_MS = 1000;

/** A timer as stored in Redis; `due` identifies it. */
interface DueTimer {
  readonly leftMs: number;
  readonly due: string;
  readonly add: AddOptions;
}

/** A timer whose due time was changed because the server's clock went back. */
export interface MovedTimer {
  readonly key: string;
  readonly due: string;
  readonly leftMs: number;
}

/** The work of maintenance on timers. */
interface TendedTimers {
  /** Keys whose timers should have fired. */
  readonly overdue: readonly string[];
  readonly moved: readonly MovedTimer[];
}

/** The consequence of a failure. */
interface RateLimited {
  readonly parked: boolean;
  readonly runWaits: boolean;
  readonly delayMs: number;
}

/** The add that a run starts with. */
export interface TakenAdd<Reply> {
  /** Undefined if a worker took it before and died. */
  readonly pending: PendingAdd | undefined;
  readonly failures: number;
  readonly comesBack: boolean;
  /** To the call that ran afterwards. */
  readonly reply: Reply | undefined;
}

/**
 * The state of a queue in Redis beside BullMQ's own keys, all under the queue's hash tag: adds whose run has not
 * started, consecutive failures, the token bucket, parked keys, timers (the earliest per key), the leader's term, and
 * the namespaces' turns.
 * Its size depends on how many keys wait, fail or are parked, not on the age of the queue.
 */
export class RedisQueueState {
  private readonly merge = new LuaScript<[rank: number]>(
    new URL('./lua/merge-pending-4.lua', import.meta.url),
  );
  private readonly take = new LuaScript<TakeReply>(new URL('./lua/take-pending-5.lua', import.meta.url));
  private readonly timerSet = new LuaScript<string | null>(new URL('./lua/set-timer-3.lua', import.meta.url));
  private readonly timerRead = new LuaScript<[leftMs: number, due: string, add: string | null] | null>(
    new URL('./lua/read-timer-2.lua', import.meta.url),
  );
  private readonly timerClear = new LuaScript(new URL('./lua/clear-timer-3.lua', import.meta.url));
  private readonly wakeUpLink = new LuaScript(new URL('./lua/link-wake-up-3.lua', import.meta.url));
  private readonly timersTend = new LuaScript<[overdue: string[], moved: (string | number)[]]>(
    new URL('./lua/tend-timers-2.lua', import.meta.url),
  );
  private readonly limit = new LuaScript<[result: number, delayMs: string]>(
    new URL('./lua/rate-limit-4.lua', import.meta.url),
  );
  private readonly forgetKey = new LuaScript(new URL('./lua/forget-4.lua', import.meta.url));
  private readonly parkKey = new LuaScript<number>(new URL('./lua/park-3.lua', import.meta.url));
  private readonly termBegin = new LuaScript<string>(new URL('./lua/begin-term-1.lua', import.meta.url));
  private readonly termLook = new LuaScript<[counts: number, text: string]>(
    new URL('./lua/look-at-term-1.lua', import.meta.url),
  );
  private readonly termCheck = new LuaScript(new URL('./lua/check-term-1.lua', import.meta.url));
  /** For display. */
  readonly view: RedisQueueView;
  readonly keys: QueueStateKeys;

  /**
   * @param base with the hash tag, for example `{rollkeeper:queue:deployment}`
   * @param wakeUps with the same hash tag
   */
  constructor(
    private readonly redis: RedisConnection,
    private readonly base: string,
    private readonly wakeUps: WakeUpKeys,
    private readonly random: RandomSource,
    private readonly steps: SharedSteps = new SharedSteps(() => redis),
  ) {
    const key = (name: string): string => `${base}:state:${name}`;
    this.keys = {
      pending: key('pending'),
      failures: key('failures'),
      bucket: key('bucket'),
      parked: key('parked'),
      timers: key('timers'),
      timerData: key('timer-data'),
      clock: key('clock'),
      term: key('term'),
      fair: key('fair'),
    };
    this.view = new RedisQueueView(redis, this.keys, wakeUps);
  }

  /** See `WorkQueue.beginTerm`. Returns the run of the server. */
  async beginTerm({ epoch, holder }: LeaderTerm): Promise<string> {
    return this.termBegin.run(this.redis, [this.keys.term], [epoch, holder]).catch(throwSuperseded);
  }

  /**
   * See `BegunTerm.check`.
   * @param begunOn the run of the server on which the term began
   */
  async checkBegun({ epoch, holder }: LeaderTerm, begunOn: string): Promise<void> {
    const [counts, text] = await this.steps.run(this.termLook.call([this.keys.term], [epoch, holder]));
    if (counts === 0) throw supersededBy(text);
    if (text === begunOn || text === '' || begunOn === '') return;
    throw new SupersededError(
      'the Redis server of this queue was restarted or replaced: what it confirmed last may be lost',
      { epoch: 0 },
    );
  }

  /** Precedes the work of a term: fails, and with it the whole step, once the term has ended. */
  checkTerm({ epoch, holder }: LeaderTerm): LuaCall {
    return this.termCheck.call([this.keys.term], [epoch, holder]);
  }

  /** The call that records an add; parse its reply with {@link readMerged}. */
  merging(key: string, add: PendingAdd): LuaCall<[rank: number]> {
    const { pending, parked, failures, fair } = this.keys;
    const args = [key, PRIORITY_RANK[add.priority], add.reason, add.readySinceMs, traceTextOf(add)];
    return this.merge.call([pending, parked, failures, fair], args);
  }

  /** The rank of the key's next run, by the reply to {@link merging}. */
  readMerged(reply: unknown): number {
    const rank: unknown = Array.isArray(reply) ? reply[0] : undefined;
    return typeof rank === 'number' ? rank : PRIORITY_RANK.normal;
  }

  /**
   * Starts a run.
   * @param after runs afterwards in the same step
   */
  async takePending<Reply>(key: string, after?: LuaCall<Reply>): Promise<TakenAdd<Reply>> {
    const call = this.once(this.take.call(this.takenKeys, [key]));
    const [answer, reply] = after
      ? await runInOneStep(this.redis, [call, after])
      : [await this.run(call), undefined];
    return { ...readTaken(answer), reply };
  }

  /**
   * Starts the run of a job that BullMQ's script takes in the same step, right before this.
   * @param after runs afterwards; its keys have {@link KEY_TO_COME} for the key
   */
  beginning(format: number, after: LuaCall | undefined): LuaCall<BegunReply> {
    const script = beginRun(this.take, after?.script);
    return script.call([...this.takenKeys, ...(after?.keys ?? [])], [format, ...(after?.args ?? [])]);
  }

  /** Undefined where no run has begun, by the reply to {@link beginning}. */
  readBegun(reply: BegunReply): TakenAdd<unknown> | undefined {
    return reply ? { ...readTaken(reply[0]), reply: reply[1] } : undefined;
  }

  private get takenKeys(): string[] {
    const { fair, failures, parked, pending, timerData } = this.keys;
    return [pending, failures, timerData, fair, parked];
  }

  /** The add that waits for a run to start, if any. */
  async readPending(key: string): Promise<PendingAdd | undefined> {
    const json = await this.redis.hget(this.keys.pending, key);
    return json === null ? undefined : parsePending(json);
  }

  /** Adds that have been waiting since before `beforeMs`, read in batches. */
  async *pendingSince(beforeMs: number): AsyncGenerator<{ key: string; add: PendingAdd }> {
    let cursor = '0';
    do {
      const [next, entries] = await this.redis.hscan(this.keys.pending, cursor, 'COUNT', 500);
      cursor = next;
      for (const [key, json] of pairsOf(entries)) {
        const add = parsePending(json);
        if (add.readySinceMs < beforeMs) yield { key, add };
      }
    } while (cursor !== '0');
  }

  /** Returns the timer's due time, or undefined if an earlier one stays. */
  async setTimer(key: string, delayMs: number, add: AddOptions): Promise<string | undefined> {
    const { timers, timerData } = this.keys;
    const { delayed, jobPrefix } = this.wakeUps;
    const args = [key, delayMs, JSON.stringify(add), jobPrefix];
    const call = this.once(this.timerSet.call([timers, timerData, delayed], args));
    return (await this.run(call)) ?? undefined;
  }

  /** Follows the add of the delayed job that wakes a worker for a timer: the job is removed with the timer. */
  linkingWakeUp(key: string, due: string, jobId: string): LuaCall {
    const { timers, timerData } = this.keys;
    const { delayed, jobPrefix } = this.wakeUps;
    return this.wakeUpLink.call([timers, timerData, delayed], [key, due, jobId, jobPrefix]);
  }

  async readTimer(key: string): Promise<DueTimer | undefined> {
    const answer = await this.timerRead.run(this.redis, [this.keys.timers, this.keys.timerData], [key]);
    if (!answer) return undefined;
    const [leftMs, due, data] = answer;
    return { leftMs, due, add: JSON.parse(data ?? '{}') as AddOptions };
  }

  /** Goes with the add of a timer that fired. */
  clearingTimer(key: string, due: string): LuaCall {
    const { timers, timerData } = this.keys;
    const { delayed, jobPrefix } = this.wakeUps;
    return this.timerClear.call([timers, timerData, delayed], [key, due, jobPrefix]);
  }

  /**
   * Moves all timers back if the server's clock went back.
   * @returns `limit` timers at most that are overdue by more than `graceMs`, and the timers that were moved
   */
  async tendTimers(graceMs: number, limit: number): Promise<TendedTimers> {
    const { clock, timers } = this.keys;
    const args = [graceMs, limit, CLOCK_NOTED_EVERY_MS, CLOCK_MAY_GO_BACK_MS];
    const [overdue, flat] = await this.timersTend.run(this.redis, [timers, clock], args);
    const moved: MovedTimer[] = [];
    for (let at = 0; at < flat.length; at += 3)
      moved.push({ key: String(flat[at]), due: String(flat[at + 1]), leftMs: Number(flat[at + 2]) });
    return { overdue, moved };
  }

  /**
   * Counts a failure. If the key would be parked and a run of it waits, it is neither parked nor delayed.
   * @param failureId a repeated call with the same one counts once
   */
  async rateLimit(
    key: string,
    error: unknown,
    options: CompiledWorkQueueOptions,
    failureId?: string,
  ): Promise<RateLimited> {
    const { failures, bucket, parked, pending } = this.keys;
    const { maxRetries, backoffBaseMs, backoffMaxMs, bucketRatePerSecond, bucketBurst } = options;
    const call = this.limit.call(
      [failures, bucket, parked, pending],
      [key, errorText(error), maxRetries, backoffBaseMs, backoffMaxMs, bucketRatePerSecond, bucketBurst],
    );
    const [result, delay] = await this.run(this.once(call, failureId));
    return { parked: result === 1, runWaits: result === 2, delayMs: Number(delay) };
  }

  /** Returns whether the key was parked; not if a run of it waits. */
  async park(key: string, error: unknown): Promise<boolean> {
    const { failures, parked, pending } = this.keys;
    // Sent again, it would park a key whose change has been applied since.
    const call = this.once(this.parkKey.call([parked, failures, pending], [key, errorText(error)]));
    return (await this.run(call)) === 1;
  }

  async forget(key: string): Promise<void> {
    const { failures, timerData, timers } = this.keys;
    const { delayed, jobPrefix } = this.wakeUps;
    await this.forgetKey.run(this.redis, [failures, timers, timerData, delayed], [key, jobPrefix]);
  }

  async failures(key: string): Promise<number> {
    return Number((await this.redis.hget(this.keys.failures, key)) ?? 0);
  }

  async counts(): Promise<{ delayed: number; parked: number }> {
    const [delayed, parked] = await Promise.all([
      this.redis.zcard(this.keys.timers),
      this.redis.hlen(this.keys.parked),
    ]);
    return { delayed, parked };
  }

  /** Has its effect once, also if the client sends it again or its caller repeats it with the same id. */
  private once<Reply>(call: LuaCall<Reply>, id: string = uuidOf(this.random)): LuaCall<Reply> {
    return answeredOnce(call, this.newAnswerKey(id));
  }

  /** See `answeredOnce`. */
  newAnswerKey(id: string = uuidOf(this.random)): string {
    return `${this.base}:state:answer:${id}`;
  }

  private run<Reply>({ args, keys, script }: LuaCall<Reply>): Promise<Reply> {
    return script.run(this.redis, keys, args);
  }
}

function readTaken([json, failures, comesBack]: TakeReply): Omit<TakenAdd<unknown>, 'reply'> {
  const pending = json === null ? undefined : parsePending(json);
  return { pending, failures, comesBack: comesBack === 1 };
}

/** Throws the typed error for a reply of our scripts, or `error` itself if it is not one of theirs. */
export function throwSuperseded(error: unknown): never {
  const [, epoch] = /^SUPERSEDED (\d+)/.exec(errorMessage(error)) ?? [];
  throw epoch === undefined ? error : supersededBy(epoch, error);
}

/** @param epoch that counts in the queue; `'0'`: none */
function supersededBy(epoch: string, cause?: unknown): SupersededError {
  const what = epoch === '0' ? 'no term has begun' : `the term of epoch ${epoch} has begun`;
  return new SupersededError(`refused: in this queue ${what}`, { epoch: Number(epoch), cause });
}

function errorText(error: unknown): string {
  return errorMessage(error).slice(0, MAX_ERROR_LENGTH);
}

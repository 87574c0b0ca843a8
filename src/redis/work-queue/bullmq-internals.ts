import type { JobsOptions, Processor, RedisQueueBackend, WorkerOptions } from 'bullmq';
import { Job, Queue, QueueKeys, Worker } from 'bullmq';
import { StartupError } from '@rollkeeper/machinery/errors';
import type { LuaArgument, LuaCall, RedisConnection } from '../connection/index.js';
import { LuaScript, SharedSteps } from '../connection/index.js';
import { BullMqScripts } from './bullmq-scripts.js';
import type { RunSteps, TakingBackend } from './joined-taking.js';
import { joinTaking } from './joined-taking.js';
import type { QueueStateKeys, WakeUpKeys } from './redis-queue-view.js';

/*
 * Everything that relies on BullMQ internals: its keys in Redis, its backend, methods that it calls on itself. The
 * scripts `age-waiting`, `bound-locks`, `clear-stray`, `look-at-queue`, `place-in-turn`, `rebase-turns`, `waits-since` and the include `wake-ups` belong to this file, and so do `bullmq-scripts.ts`, `joined-taking.ts` (the methods of the backend by which a worker takes and completes jobs) and `begin-run.ts` (the reply with a job). To upgrade BullMQ, change {@link KNOWN_BULLMQ} and run
 * `test/integration/bullmq-internals.test.ts`.
 */

/**
 * The release that this file was checked against. BullMQ makes no promises about its internals, not even in patch
 * releases.
 */
export const KNOWN_BULLMQ = '6.7.0';

/** The keys used by this file and its scripts, after BullMQ's prefix of a queue, with their types in Redis. */
export const BULLMQ_LAYOUT = {
  wait: 'list',
  active: 'list',
  prioritized: 'zset',
  delayed: 'zset',
  /** Counts prioritized jobs; part of the scores that BullMQ gives them. */
  pc: 'string',
  /** Workers block on it. */
  marker: 'zset',
  /** Has the field `paused` while the queue is paused. */
  meta: 'hash',
  /** The id of the job that holds a deduplication key. */
  'de:<key>': 'string',
  /** The add to enqueue when the key's active job ends. */
  'dn:<key>': 'hash',
  '<job>': 'hash',
  '<job>:lock': 'string',
} as const;

/** @throws StartupError if the loaded BullMQ is not the known release */
export function assertKnownBullMq(found: string = loadedBullMq()): void {
  if (found === KNOWN_BULLMQ) return;
  throw new StartupError(
    `BullMQ ${found} was found where ${KNOWN_BULLMQ} is expected: the work queue relies on how that release stores its jobs; install bullmq@${KNOWN_BULLMQ}`,
  );
}

/** Read from the code itself, which may be bundled: each queue writes it to its metadata, `bullmq:6.7.0`. */
function loadedBullMq(): string {
  const meta = Reflect.get(Queue.prototype, 'metaValues', { libName: 'bullmq' }) as
    { version?: unknown } | undefined;
  return typeof meta?.version === 'string' ? meta.version.replace(/^bullmq:/, '') : 'of an unknown version';
}

/** How BullMQ sends a script that it has defined: by name, with keys and arguments in one list. */
interface ScriptRunner {
  runCommand(name: string, keysAndArgs: LuaArgument[]): Promise<unknown>;
}

/** The keys of the queue's state that hold the turns. */
export type TurnKeys = Pick<QueueStateKeys, 'fair' | 'pending'>;

type Backend = Pick<RedisQueueBackend, 'addJobToTransaction'>;
type KeysOf = Pick<Queue, 'toKey'>;

const ageWaiting = new LuaScript(new URL('./lua/age-waiting-5.lua', import.meta.url));
const rebaseTurns = new LuaScript(new URL('./lua/rebase-turns-4.lua', import.meta.url));
const placeInTurn = new LuaScript(new URL('./lua/place-in-turn-4.lua', import.meta.url));
const boundLocks = new LuaScript(new URL('./lua/bound-locks-1.lua', import.meta.url));
const clearStray = new LuaScript(new URL('./lua/clear-stray-4.lua', import.meta.url));
const lookAtQueue = new LuaScript<QueueLook>(new URL('./lua/look-at-queue-9.lua', import.meta.url));
const waitsSince = new LuaScript(new URL('./lua/waits-since-4.lua', import.meta.url));

/** The reply of `look-at-queue`. `isAtRest`, `isPaused`: 0 or 1. */
export type QueueLook = readonly [
  isAtRest: number,
  waiting: number,
  active: number,
  parked: number,
  isPaused: number,
];

/** The findings of `clear-stray`, by the number that it returns. */
const STRAY_FINDINGS = [
  undefined,
  'no deduplication key',
  'the deduplication key of a job that is gone',
  'the deduplication key of a job in no list',
  'an active job without a successor',
] as const;
type StrayFinding = NonNullable<(typeof STRAY_FINDINGS)[number]>;

/** @param prefix BullMQ's, with the hash tag */
export function wakeUpKeysOf(prefix: string, queue: string): WakeUpKeys {
  const keys = new QueueKeys(prefix);
  return { delayed: keys.toKey(queue, 'delayed'), jobPrefix: keys.toKey(queue, '') };
}

/** Operations on BullMQ queues that BullMQ does not offer, on one connection. */
export class BullMqInternals {
  private readonly scripts: BullMqScripts;
  /** A change may concern many keys. */
  private readonly adds = new SharedSteps(() => this.redis);

  /**
   * @param redis the connection that the queues will use; call this before creating them
   * @throws StartupError for an unknown BullMQ
   */
  constructor(private readonly redis: RedisConnection) {
    assertKnownBullMq();
    this.scripts = new BullMqScripts(redis);
  }

  /**
   * `queue.add` after `before` and before `after`, atomically. BullMQ still decides what it stores; it only hands its script to us instead
   * of the server. An error in `before` fails the add, which then has no effect. The adds of one turn are one command.
   * @returns the replies of `before`
   */
  async addInOneStep<Data, Name extends string>(
    queue: Queue<Data, unknown, Name>,
    name: Name,
    data: Data,
    options: JobsOptions,
    before: readonly LuaCall[],
    after: readonly LuaCall[] = [],
  ): Promise<unknown[]> {
    let replies: unknown[] = [];
    const runner: ScriptRunner = {
      runCommand: async (script, keysAndArgs) => {
        const calls = [...before, this.scripts.callOf(script, keysAndArgs), ...after];
        replies = await this.adds.runAll(calls);
        return replies[before.length];
      },
    };
    const { backend } = queue as unknown as { backend: Backend };
    const adding = {
      addJob: (...[job, id, parent]: Parameters<RedisQueueBackend['addJob']>) =>
        backend.addJobToTransaction(runner as never, job, id, parent),
    };
    const view = Object.create(queue, {
      backend: { value: Object.setPrototypeOf(adding, backend) as unknown },
    }) as typeof queue;
    await Job.create(view, name, data, { ...queue.jobsOpts, ...options });
    return replies.slice(0, before.length);
  }

  /** Puts the waiting job of a key where its pending add has its turn. For {@link addInOneStep}. */
  placingInTurn(queue: KeysOf, key: string, { fair, pending }: TurnKeys): LuaCall {
    const keys = [queue.toKey('prioritized'), queue.toKey('pc'), pending, fair];
    return placeInTurn.call(keys, [queue.toKey(''), key]);
  }

  /**
   * Moves jobs of the background that were added before `beforeMs` to their namespaces' turns in the foreground, looking
   * at `limit` of them at most, and wakes a worker while anything waits or is due. Moves all turns back before their numbers
   * become too large for scores.
   */
  async ageWaiting(
    queue: KeysOf,
    { fair, pending }: TurnKeys,
    { beforeMs, limit, nowMs }: { readonly beforeMs: number; readonly limit: number; readonly nowMs: number },
  ): Promise<void> {
    const [prioritized, wait, marker, delayed] = ['prioritized', 'wait', 'marker', 'delayed'].map((name) =>
      queue.toKey(name),
    );
    const keys = [prioritized, wait, marker, fair, delayed] as string[];
    const areLong = await ageWaiting.run(this.redis, keys, [queue.toKey(''), beforeMs, limit, nowMs]);
    if (areLong !== 1) return;
    const moved = [queue.toKey('prioritized'), queue.toKey('pc'), pending, fair];
    await rebaseTurns.run(this.redis, moved, [queue.toKey('')]);
  }

  /** The call that counts what is in the queue. */
  looking(queue: KeysOf, { clock, parked, pending, timers }: QueueStateKeys): LuaCall<QueueLook> {
    const bull = ['wait', 'prioritized', 'active', 'delayed', 'meta'].map((name) => queue.toKey(name));
    return lookAtQueue.call([...bull, pending, timers, clock, parked]);
  }

  /**
   * Lets no lock of an active job last longer than `lockDurationMs` from now on, and the next look for dead workers wait no longer
   * than `stalledIntervalMs`.
   */
  async boundLocks(
    queue: KeysOf,
    {
      lockDurationMs,
      stalledIntervalMs,
    }: { readonly lockDurationMs: number; readonly stalledIntervalMs: number },
  ): Promise<void> {
    const args = [queue.toKey(''), lockDurationMs, stalledIntervalMs];
    await boundLocks.run(this.redis, [queue.toKey('active')], args);
  }

  /**
   * Removes a deduplication key that has no job (bullmq#4311).
   * @returns what was found if the key has no job, so that an add is needed; undefined if it has one
   */
  async clearStray(queue: KeysOf, key: string): Promise<StrayFinding | undefined> {
    const keys = ['prioritized', 'wait', 'active', 'delayed'].map((name) => queue.toKey(name));
    return STRAY_FINDINGS[Number(await clearStray.run(this.redis, keys, [queue.toKey(''), key]))];
  }

  /** Whether a job has been waiting, or a delayed one overdue, since `beforeMs`. */
  async waitsSince(queue: KeysOf, beforeMs: number): Promise<boolean> {
    const keys = ['wait', 'prioritized', 'delayed', 'meta'].map((name) => queue.toKey(name));
    return (await waitsSince.run(this.redis, keys, [queue.toKey(''), beforeMs])) === 1;
  }

  /** Forgets adds made while the key's job has been active, so that no run follows the current one. */
  async dropSuccessor(queue: KeysOf, key: string): Promise<void> {
    await this.redis.del(queue.toKey(`dn:${key}`));
  }
}

/** Notified of the outcome of every lock renewal. */
export interface RenewalObserver {
  /** @param sentAtMs monotonic clock, before the renewal was sent */
  renewed(jobId: string, sentAtMs: number): void;
  lost(jobId: string): void;
}

/** When a worker takes jobs. */
export interface TakingRule {
  /** Whether to take a job as soon as one waits. Otherwise {@link isWanted} is asked first. */
  readonly takesAtOnce: () => boolean;
  readonly isWanted: () => Promise<boolean>;
  /** Resolves when it is time to ask again, or when the worker closes. */
  readonly untilNextLook: () => Promise<void>;
}

/** The result of BullMQ's wait for the marker when a job may be available. */
const LOOK_NOW = { member: '0', score: 0 };
/**
 * How long a worker waits for a marker where nothing is delayed, seconds. It is longer than BullMQ's longest wait for a delayed job
 * (10 s). So a wait that lasted this long had no delayed job, and there is nothing to look for.
 */
export const DRAIN_DELAY_S = 12;

/**
 * A worker that reports its renewals and takes jobs by a rule. BullMQ itself only emits `lockRenewalFailed` and lets
 * the job continue, and its workers take every job they can.
 */
export class ObservedWorker<Data, Result, Name extends string> extends Worker<Data, Result, Name> {
  private hasMarker = false;
  /** The last wait has shown that nothing waits. */
  private isDrained = false;

  constructor(
    name: string,
    processor: Processor<Data, Result, Name>,
    options: WorkerOptions & { readonly connection: RedisConnection },
    private readonly renewals: RenewalObserver,
    private readonly monotonicNow: () => number,
    private readonly taking: TakingRule,
    private readonly runSteps?: RunSteps,
  ) {
    const { connection } = options;
    const scripts = new BullMqScripts(connection);
    super(name, processor, options);
    const { backend } = this;
    if (runSteps) joinTaking(backend as unknown as TakingBackend, { connection, scripts, steps: runSteps });
    const waitForJob = backend.waitForJob.bind(backend);
    backend.waitForJob = async (timeout) => {
      if (!taking.takesAtOnce()) return taking.untilNextLook().then(() => LOOK_NOW);
      const marker = await waitForJob(timeout);
      this.hasMarker = marker !== null;
      this.isDrained = marker === null && timeout >= DRAIN_DELAY_S;
      return marker;
    };
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<Data, Result, Name>> {
    // After popping the marker we must look regardless of the rule: it will not wake another worker.
    const isTold = this.hasMarker || (!this.isDrained && this.taking.takesAtOnce());
    this.isDrained = false;
    const mayTake = isTold || (!this.taking.takesAtOnce() && (await this.taking.isWanted()));
    this.hasMarker = false;
    return mayTake ? super.moveToActive(token, name) : this.nextJobFromJobData();
  }

  override async processJob(
    job: Job<Data, Result, Name>,
    token: string,
    fetchNext: () => boolean = () => true,
  ): Promise<void | Job<Data, Result, Name>> {
    try {
      return await super.processJob(job, token, () => this.taking.takesAtOnce() && fetchNext());
    } finally {
      await this.runSteps?.leave(job.id ?? '');
    }
  }

  /** Lets the keys of dead workers run again. Two calls find them, the checking interval apart; more often they do nothing. */
  async takeOver(): Promise<void> {
    await this.backend.moveStalledJobsToWait();
  }

  override async extendJobLocks(jobIds: string[], tokens: string[], duration: number): Promise<string[]> {
    const sentAtMs = this.monotonicNow();
    const lost = await super.extendJobLocks(jobIds, tokens, duration);
    for (const jobId of jobIds) {
      if (lost.includes(jobId)) this.renewals.lost(jobId);
      else this.renewals.renewed(jobId, sentAtMs);
    }
    return lost;
  }
}

/**
 * The connection and every future duplicate that a worker makes of it. BullMQ blocks on a duplicate and closes it only
 * once it is connected: without Redis it would try to connect forever and keep the process alive.
 */
export function withCopies(connection: RedisConnection): readonly RedisConnection[] {
  const all = [connection];
  const duplicate = connection.duplicate.bind(connection) as (...options: unknown[]) => RedisConnection;
  Object.assign(connection, {
    duplicate: (...options: unknown[]) => {
      const copy = duplicate(...options);
      all.push(copy);
      return copy;
    },
  });
  return all;
}

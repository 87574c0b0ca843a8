import { Queue } from 'bullmq';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { pause, uuidOf } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { PendingAdd } from '@rollkeeper/runtime/work-queue/pending-add';
import { PRIORITY_RANK } from '@rollkeeper/runtime/work-queue/pending-add';
import type { LuaCall, RedisConnection } from '../connection/index.js';
import type { BullMqInternals } from './bullmq-internals.js';
import type { RedisQueueState } from './redis-queue-state.js';

/** `key`: run the key. `timer`: the key's timer `due` may have fired. */
export type QueueJobData = ({ key: string; add: PendingAdd } | { key: string; due: string }) & {
  /** Format version: {@link JOB_FORMAT} of the job's author; absent: 1. */
  v?: number;
};
/**
 * Increased when older releases can no longer read a job; they leave such jobs to newer ones. State stored beside the
 * jobs is only ever extended at the end, which older releases ignore.
 */
export const JOB_FORMAT = 1;
export type QueueJobName = 'key' | 'timer';

/** BullMQ's priority: the background's keys run when no other key waits. Within it our own turns count. */
export function bullPriorityOf(rank: number): number {
  return rank === PRIORITY_RANK.low ? rank : PRIORITY_RANK.high;
}

interface BullMqJobsDependencies {
  readonly name: string;
  readonly prefix: string;
  readonly redis: RedisConnection;
  readonly internals: BullMqInternals;
  readonly state: Pick<RedisQueueState, 'keys' | 'linkingWakeUp'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Without a connection to Redis, closing is abandoned after this time. */
const CLOSE_GRACE_MS = 500;

/** The jobs of a queue in BullMQ: one for each waiting key, and one for each timer. */
export class BullMqJobs {
  private opened: Promise<Queue<QueueJobData, unknown, QueueJobName>> | undefined;

  constructor(private readonly dependencies: BullMqJobsDependencies) {}

  /** Adds the job of a key. Returns the replies of `before`, which runs in the same step. */
  async enqueue(
    key: string,
    add: PendingAdd,
    rank: number,
    before: readonly LuaCall[] = [],
  ): Promise<unknown[]> {
    const queue = await this.open();
    const deduplication = { id: key, keepLastIfActive: true };
    const options = { priority: bullPriorityOf(rank), deduplication };
    const { internals, state } = this.dependencies;
    const placing = internals.placingInTurn(queue, key, state.keys);
    return internals.addInOneStep(queue, 'key', { key, add, v: JOB_FORMAT }, options, before, [placing]);
  }

  /** Adds the job of a timer. It is removed with its timer, which may be due in a day, while its key may be deleted in a second. */
  async wakeUp(key: string, due: string, delayMs: number): Promise<void> {
    const queue = await this.open();
    const { internals, random, state } = this.dependencies;
    const jobId = uuidOf(random);
    const options = { delay: Math.ceil(delayMs), jobId };
    const linking = state.linkingWakeUp(key, due, jobId);
    await internals.addInOneStep(queue, 'timer', { key, due, v: JOB_FORMAT }, options, [], [linking]);
  }

  /** BullMQ's queue connects when created and stays broken if that fails, so it is not created before Redis answers. */
  open(): Promise<Queue<QueueJobData, unknown, QueueJobName>> {
    this.opened ??= this.openQueue().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  private async openQueue(): Promise<Queue<QueueJobData, unknown, QueueJobName>> {
    const { logger, name, prefix, redis } = this.dependencies;
    await redis.ping();
    const queue = new Queue<QueueJobData, unknown, QueueJobName>(name, {
      connection: redis,
      prefix,
      // The event stream has no readers; keep it short.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', (error) => logger.warn('bullmq queue error', { error }));
    await queue.waitUntilReady();
    return queue;
  }

  /** BullMQ's `close` waits for Redis without limit, so it only gets a moment. */
  async close(): Promise<void> {
    const { clock } = this.dependencies;
    const closing = this.opened?.then((queue) => queue.close()).catch(() => undefined);
    const waited = new AbortController();
    await Promise.race([closing, pause(clock, CLOSE_GRACE_MS, waited.signal)]);
    waited.abort();
  }
}

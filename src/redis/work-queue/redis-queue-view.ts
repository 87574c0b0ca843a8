import type { RedisConnection } from '../connection/index.js';
import { LuaScript, pairsOf } from '../connection/index.js';
import { parsePending, waitingKeyOf } from '@rollkeeper/runtime/work-queue/pending-add';
import type {
  DelayedKey,
  KeyView,
  ParkedKey,
  WorkQueueView,
} from '@rollkeeper/runtime/work-queue/queue-inspection';
import type { AddOptions } from '@rollkeeper/runtime/work-queue/work-queue';

/** The keys of a queue's own state in Redis, all in one slot. */
export type QueueStateKeys = Readonly<
  Record<
    'pending' | 'failures' | 'bucket' | 'parked' | 'timers' | 'timerData' | 'clock' | 'term' | 'fair',
    string
  >
>;

/** BullMQ's keys of the delayed jobs that wake workers for timers. */
export interface WakeUpKeys {
  /** The sorted set of delayed jobs. */
  readonly delayed: string;
  /** Precedes the id of a job in its key. */
  readonly jobPrefix: string;
}

/** Limit of entries read, so that viewing a very long queue has a bounded cost. */
const LOOK_AT_MOST = 10_000;

/** A view of a queue for people. Read-only, except for `purge`. */
export class RedisQueueView {
  private readonly timerDrop = new LuaScript<number>(new URL('./lua/drop-timer-3.lua', import.meta.url));

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: QueueStateKeys,
    private readonly wakeUps: WakeUpKeys,
  ) {}

  async inspect(limit: number): Promise<WorkQueueView> {
    const [waiting, timers, parked] = await Promise.all([
      this.scan(this.keys.pending),
      this.redis.zrange(this.keys.timers, '0', String(Math.max(limit - 1, 0)), 'WITHSCORES'),
      this.scan(this.keys.parked),
    ]);
    const parkedKeys = parked
      .map(([key, json]) => parsedParked(key, json))
      .sort((a, b) => a.parkedAtMs - b.parkedAtMs)
      .slice(0, limit);
    const isParked = new Set(parked.map(([key]) => key));
    const delayed = pairsOf(timers).filter(([key]) => !isParked.has(key));
    return {
      waiting: waiting
        .map(([key, json]) => waitingKeyOf(key, parsePending(json)))
        .sort((a, b) => a.sinceMs - b.sinceMs)
        .slice(0, limit),
      delayed: delayed.length === 0 ? [] : await this.delayedKeys(delayed),
      parked: await this.withNextTries(parkedKeys),
    };
  }

  async inspectKey(key: string): Promise<Omit<KeyView, 'hasJob'>> {
    const { failures, parked, pending, timers } = this.keys;
    const [failed, parkedJson, pendingJson, due] = await Promise.all([
      this.redis.hget(failures, key),
      this.redis.hget(parked, key),
      this.redis.hget(pending, key),
      this.redis.zscore(timers, key),
    ]);
    return {
      failures: Number(failed ?? 0),
      ...(pendingJson === null ? {} : { waiting: waitingKeyOf(key, parsePending(pendingJson)) }),
      ...(due === null ? {} : { delayed: (await this.delayedKeys([[key, due]]))[0] }),
      ...(parkedJson === null ? {} : { parked: withNextTry(parsedParked(key, parkedJson), due) }),
    };
  }

  async parked(): Promise<readonly ParkedKey[]> {
    const all = await this.redis.hgetall(this.keys.parked);
    return this.withNextTries(Object.entries(all).map(([key, json]) => parsedParked(key, json)));
  }

  private async withNextTries(parked: readonly ParkedKey[]): Promise<ParkedKey[]> {
    if (parked.length === 0) return [];
    const due = await this.redis.zmscore(this.keys.timers, ...parked.map(({ key }) => key));
    return parked.map((each, index) => withNextTry(each, due[index] ?? null));
  }

  /** Returns whether the key was known. */
  async purge(key: string): Promise<boolean> {
    const { failures, parked, pending, timerData, timers } = this.keys;
    const { delayed, jobPrefix } = this.wakeUps;
    const removed = await Promise.all([
      this.redis.hdel(pending, key),
      this.timerDrop.run(this.redis, [timers, timerData, delayed], [key, jobPrefix]),
      this.redis.hdel(parked, key),
      this.redis.hdel(failures, key),
    ]);
    return removed.some((count) => count > 0);
  }

  private async delayedKeys(timers: readonly (readonly [string, string])[]): Promise<DelayedKey[]> {
    const names = timers.map(([key]) => key);
    const [data, failures] = await Promise.all([
      this.redis.hmget(this.keys.timerData, ...names),
      this.redis.hmget(this.keys.failures, ...names),
    ]);
    return timers.map(([key, due], index) => {
      const { reason } = JSON.parse(data[index] ?? '{}') as AddOptions;
      return { key, dueMs: Number(due), reason, failures: Number(failures[index] ?? 0) };
    });
  }

  private async scan(hash: string): Promise<(readonly [string, string])[]> {
    const found = new Map<string, string>();
    let cursor = '0';
    do {
      const [next, entries] = await this.redis.hscan(hash, cursor, 'COUNT', 500);
      cursor = next;
      for (const [key, value] of pairsOf(entries)) found.set(key, value);
    } while (cursor !== '0' && found.size < LOOK_AT_MOST);
    return [...found];
  }
}

function withNextTry(parked: ParkedKey, due: string | null): ParkedKey {
  return due === null ? parked : { ...parked, nextTryMs: Number(due) };
}

function parsedParked(key: string, json: string): ParkedKey {
  return { key, ...(JSON.parse(json) as Omit<ParkedKey, 'key'>) };
}

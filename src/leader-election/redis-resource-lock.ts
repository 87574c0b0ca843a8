import { abortable } from '../cancellation/index.js';
import { toRfc3339 } from '../clock/index.js';
import { InvalidOptionError } from '../errors/index.js';
import type { Logger } from '../logging/index.js';
import type { RedisConnection } from '../redis/index.js';
import { LuaScript, createRedisConnection } from '../redis/index.js';
import type { LeaderElectionRecord, LeaseAttempt, ResourceLock } from './resource-lock.js';

const acquireScript = new LuaScript(new URL('./lua/acquire-1.lua', import.meta.url));
const releaseScript = new LuaScript(new URL('./lua/release-1.lua', import.meta.url));

export interface RedisResourceLockOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  url: string;
  /** Who we are: unique to this process, also among its former lives. */
  identity: string;
  /** In front of every key. @default 'rollkeeper:' */
  keyPrefix?: string;
  /** Which lease; electors of one name elect one leader. @default 'leader' */
  name?: string;
  /** After which time an attempt without an answer has failed. @default 1000 */
  commandTimeoutMs?: number;
  logger?: Logger;
}

/**
 * The lease in Redis, judged by the Redis server's clock in one script. Not safe against a jump of that clock, nor
 * against a failover that loses the last writes: hence the fencing epoch, which work must carry to where it writes.
 *
 * Connects on first use; `close` it when its elector has stopped.
 */
export class RedisResourceLock implements ResourceLock {
  readonly identity: string;
  private readonly redis: RedisConnection;
  private readonly connectSubscriber: () => RedisConnection;
  private subscriber: RedisConnection | undefined;
  private readonly key: string;
  private readonly channel: string;
  private readonly wakes = new Set<() => void>();

  /** @throws InvalidOptionError */
  constructor(options: RedisResourceLockOptions) {
    const { url, logger, identity, keyPrefix = 'rollkeeper:', name = 'leader' } = options;
    if (identity === '') throw new InvalidOptionError('identity', 'is empty');
    this.identity = identity;
    this.key = `${keyPrefix}lease:${name}`;
    this.channel = `${this.key}:released`;
    const commandTimeoutMs = options.commandTimeoutMs ?? 1000;
    this.redis = createRedisConnection({ url, logger, commandTimeoutMs, connectionName: 'lease' });
    this.connectSubscriber = () =>
      createRedisConnection({ url, logger, connectionName: 'lease-released', mode: 'blocking' });
  }

  describe(): string {
    return `redis lease ${this.key}`;
  }

  async get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined> {
    const fields = ['holder', 'epoch', 'durationMs', 'acquiredUs', 'renewedUs'] as const;
    const values = await abortable(this.redis.hmget(this.key, ...fields), signal);
    const [holder, epoch, durationMs, acquiredUs, renewedUs] = values;
    if (typeof epoch !== 'string') return undefined;
    return toRecord(holder ?? '', Number(epoch), Number(durationMs), String(acquiredUs), String(renewedUs));
  }

  async tryAcquireOrRenew(leaseDurationMs: number, signal?: AbortSignal): Promise<LeaseAttempt> {
    signal?.throwIfAborted();
    const asked = acquireScript.run(this.redis, [this.key], [this.identity, leaseDurationMs]);
    const reply = (await abortable(asked, signal)) as [
      LeaseAttempt['outcome'],
      string,
      number,
      number,
      string,
      string,
      number,
    ];
    const [outcome, holder, epoch, durationMs, acquiredUs, renewedUs, remainingMs] = reply;
    const record = toRecord(holder, epoch, durationMs, acquiredUs, renewedUs);
    return outcome === 'held' ? { outcome, record, remainingMs } : { outcome, record };
  }

  async release(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    const asked = releaseScript.run(this.redis, [this.key], [this.identity, this.channel]);
    return (await abortable(asked, signal)) === 1;
  }

  /** News that is sent while the link is down is lost: whoever waits must also look by itself. */
  onReleased(wake: () => void): () => void {
    this.wakes.add(wake);
    this.subscribe();
    return () => {
      this.wakes.delete(wake);
      if (this.wakes.size === 0) this.unsubscribe();
    };
  }

  /** Ends the connections. */
  close(): void {
    this.wakes.clear();
    this.unsubscribe();
    this.redis.disconnect();
  }

  private subscribe(): void {
    if (this.subscriber) return;
    this.subscriber = this.connectSubscriber();
    this.subscriber.on('message', () => {
      for (const wake of [...this.wakes]) wake();
    });
    // Rejects only when the connection is closed by us; the client subscribes again after each reconnect.
    this.subscriber.subscribe(this.channel).catch(() => undefined);
  }

  private unsubscribe(): void {
    this.subscriber?.disconnect();
    this.subscriber = undefined;
  }
}

function toRecord(
  holderIdentity: string,
  leaderTransitions: number,
  durationMs: number,
  acquiredUs: string,
  renewedUs: string,
): LeaderElectionRecord {
  return {
    holderIdentity,
    leaseDurationSeconds: durationMs / 1000,
    acquireTime: toMicroTime(acquiredUs),
    renewTime: toMicroTime(renewedUs),
    leaderTransitions,
  };
}

function toMicroTime(epochUs: string): string {
  const seconds = toRfc3339(Math.floor(Number(epochUs) / 1e6) * 1000);
  return seconds.replace(/Z$/, `.${epochUs.slice(-6)}Z`);
}

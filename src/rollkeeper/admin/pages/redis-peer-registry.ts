import type { Peer, PeerRegistry, SingleUses } from '../server/index.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript, createRedisConnection } from '@rollkeeper/redis/connection';

/** Values that may be used once, for all replicas that share a Redis. */
export class RedisSingleUses implements SingleUses {
  constructor(
    private readonly redis: Pick<RedisConnection, 'set'>,
    private readonly keyPrefix: string,
  ) {}

  async isFirst(digest: string, rememberedMs: number): Promise<boolean> {
    const ms = Math.max(1, Math.ceil(rememberedMs));
    return (await this.redis.set(`${this.keyPrefix}:used:${digest}`, '', 'PX', ms, 'NX')) === 'OK';
  }
}

export interface RedisPeerRegistryOptions {
  readonly redisUrl: string;
  readonly keyPrefix: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const announce = new LuaScript(new URL('./lua/announce-1.lua', import.meta.url));
const list = new LuaScript(new URL('./lua/list-replicas-1.lua', import.meta.url));

const ANNOUNCE_EVERY_MS = 1000;
/** Three announcements may get lost. */
const FRESH_MS = 3500;
/** One that hangs is named for so long. */
const FORGET_AFTER_MS = 600_000;

/**
 * How replicas find each other's admin pages: each announces itself once a second. Only for display; no decision
 * depends on it.
 */
export class RedisPeerRegistry implements PeerRegistry {
  /** For the admin pages, on the same connection. */
  readonly singleUses: SingleUses;
  private readonly redis: RedisConnection;
  private readonly key: string;
  private self: Peer | undefined;
  private started = false;
  private running = false;

  constructor(private readonly options: RedisPeerRegistryOptions) {
    const { keyPrefix, logger, redisUrl: url } = options;
    this.key = `${keyPrefix}:replicas`;
    this.redis = createRedisConnection({ url, logger, connectionName: 'rollkeeper-replicas' });
    this.singleUses = new RedisSingleUses(this.redis, keyPrefix);
  }

  /** Announces this address, at once if it runs. */
  announceAs(self: Peer): void {
    this.self = self;
    if (this.running) void this.tell();
  }

  async peers(): Promise<readonly Peer[]> {
    const told = (await list.run(this.redis, [this.key], [FORGET_AFTER_MS])) as (string | number)[];
    return told
      .flatMap((json, index) => (index % 2 === 0 ? [peerOf(String(json), Number(told[index + 1]))] : []))
      .sort((a, b) => a.identity.localeCompare(b.identity, 'en', { numeric: true }));
  }

  /** Announces until aborted, then removes itself. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.started) throw new IllegalStateError('a registry runs once');
    this.started = true;
    const { clock, identity } = this.options;
    this.running = true;
    while (!signal.aborted) {
      await this.tell();
      await pause(clock, ANNOUNCE_EVERY_MS, signal);
    }
    this.running = false;
    await announce.run(this.redis, [this.key], [identity, '']).catch(() => undefined);
  }

  close(): void {
    this.redis.disconnect();
  }

  /** Never rejects: the next announcement follows soon. */
  private async tell(): Promise<void> {
    const { identity, logger } = this.options;
    if (!this.self) return;
    try {
      await announce.run(this.redis, [this.key], [identity, JSON.stringify(this.self)]);
    } catch (error) {
      logger.debug('could not announce this replica', { error });
    }
  }
}

function peerOf(json: string, ageMs: number): Peer {
  return { ...(JSON.parse(json) as Peer), ...(ageMs > FRESH_MS && { silentMs: ageMs }) };
}

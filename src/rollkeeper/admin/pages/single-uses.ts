import type { SingleUses } from '../server/index.js';
import type { RedisConnection } from '@rollkeeper/redis/connection';

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

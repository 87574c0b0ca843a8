import { randomBytes } from 'node:crypto';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { SECRET_BYTES } from './storage.js';
import type { RedisKeys } from './redis-layout.js';

const FIELD = 'secret';

/** The secret of the store: made by the first process that needs it, and asked for once for each link. */
export class RedisSecret {
  private asked: Promise<Buffer> | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
  ) {}

  get(): Promise<Buffer> {
    if (this.asked) return this.asked;
    const asked = this.ask();
    this.asked = asked;
    asked.catch(() => {
      if (this.asked === asked) this.forget();
    });
    return asked;
  }

  /** The link is broken: the server that answers next may have another store. */
  forget(): void {
    this.asked = undefined;
  }

  private async ask(): Promise<Buffer> {
    const { meta } = this.keys;
    const known = await this.redis.hget(meta, FIELD);
    if (known !== null) return Buffer.from(known, 'base64');
    await this.redis.hsetnx(meta, FIELD, randomBytes(SECRET_BYTES).toString('base64'));
    return this.ask();
  }
}

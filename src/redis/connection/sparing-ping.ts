import type { RedisConnection } from './redis-connection.js';

/**
 * Asks a server whether it answers, unless it has sent anything on this connection since the last call: then nothing needs to
 * be asked.
 */
export class SparingPing {
  private stream: unknown;
  private bytesRead = 0;

  constructor(private readonly redis: () => RedisConnection) {}

  /** Rejects while the server does not answer. */
  async ping(): Promise<void> {
    const redis = this.redis();
    if (!this.hasSent(redis)) await redis.ping();
    this.note(redis);
  }

  /** Never of a Cluster, which has a connection to each node. */
  private hasSent(redis: RedisConnection): boolean {
    if (!('stream' in redis) || redis.status !== 'ready') return false;
    return redis.stream === this.stream && redis.stream.bytesRead > this.bytesRead;
  }

  private note(redis: RedisConnection): void {
    if (!('stream' in redis)) return;
    this.stream = redis.stream;
    this.bytesRead = redis.stream.bytesRead;
  }
}

import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemRandom, uuidOf } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { RedisConnection } from '../connection/index.js';
import { createRedisConnection } from '../connection/index.js';
import type { ActorOptions } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import { compileActorOptions, StoredActorRuntime } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import { RedisActorStore } from './redis-actor-store.js';

/** The dependencies of {@link RedisActorRuntime}. */
export interface RedisActorRuntimeDependencies {
  redisUrl: string;
  /** Distinguishes installations that share a Redis. @default 'rollkeeper' */
  keyPrefix?: string;
  clock: Clock;
  /** For the owners of locks. @default SystemRandom */
  random?: RandomSource;
  logger?: Logger;
  options?: ActorOptions;
}

/** The actor runtime that all replicas share through Redis. */
export class RedisActorRuntime extends StoredActorRuntime {
  private readonly redis: RedisConnection;

  constructor(dependencies: RedisActorRuntimeDependencies) {
    const { redisUrl, keyPrefix = 'rollkeeper', clock, logger, options } = dependencies;
    const { random = new SystemRandom() } = dependencies;
    const ttl = compileActorOptions(options);
    const { lockDurationMs } = ttl;
    const redis = createRedisConnection({
      url: redisUrl,
      connectionName: 'rollkeeper-actors',
      // A renewal that hangs must leave time for another attempt.
      commandTimeoutMs: Math.ceil(lockDurationMs / 3),
      logger,
    });
    const store = new RedisActorStore(redis, keyPrefix, ttl);
    super({ store, newOwner: () => uuidOf(random), clock, logger, options });
    this.redis = redis;
  }

  /** Rejects while Redis does not answer. */
  async ping(): Promise<void> {
    await this.redis.ping();
  }

  /** Call it after the last activation has ended. */
  async close(): Promise<void> {
    this.redis.disconnect();
  }
}

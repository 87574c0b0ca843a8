import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemRandom, uuidOf } from '@rollkeeper/machinery/clock';
import type { RedisConnection } from '../connection/index.js';
import { literalPattern, removeMatchingKeys } from '../connection/index.js';
import type { ClusterClaims } from '@rollkeeper/runtime/operator/coordination';

/** The options of {@link RedisClusterClaims}. */
export interface RedisClusterClaimsOptions {
  /** Returns the connection. Called for each command. */
  readonly redis: () => RedisConnection;
  /** The prefix of the installation's keys. */
  readonly keyPrefix: string;
  readonly clock: Clock;
  /** @default SystemRandom */
  readonly random?: RandomSource;
}

/** How long one replica may replace the claim alone unless it renews; milliseconds. */
const REPLACING_MS = 30_000;
const LOOK_AGAIN_MS = 200;

/** The identity of the cluster that an installation's keys belong to, stored in one key beside them. */
export class RedisClusterClaims implements ClusterClaims {
  private readonly key: string;
  private readonly lock: string;

  constructor(private readonly options: RedisClusterClaimsOptions) {
    this.key = `${options.keyPrefix}:cluster`;
    this.lock = `${this.key}:replacing`;
  }

  async owner(): Promise<string | undefined> {
    return (await this.options.redis().get(this.key)) ?? undefined;
  }

  async claim(cluster: string): Promise<string> {
    const before = await this.options.redis().set(this.key, cluster, 'NX', 'GET');
    return before ?? cluster;
  }

  /**
   * Removes queues and actor state: they name resourceVersions, UIDs and pods of the former cluster. Objects of the
   * embedded API server stay. No replica works for the new cluster before its name is stored, so nothing that belongs
   * to it is removed.
   */
  async replace(former: string, cluster: string, signal: AbortSignal): Promise<string> {
    const { clock, random = new SystemRandom(), redis } = this.options;
    const token = uuidOf(random);
    for (;;) {
      signal.throwIfAborted();
      if ((await this.owner()) !== former) return this.claim(cluster);
      if ((await redis().set(this.lock, token, 'PX', REPLACING_MS, 'NX')) === 'OK') break;
      await clock.sleep(LOOK_AGAIN_MS, signal);
    }
    try {
      if ((await this.owner()) !== former) return await this.claim(cluster);
      await this.forget();
      await redis().set(this.key, cluster);
      return cluster;
    } finally {
      if ((await redis().get(this.lock)) === token) await redis().del(this.lock);
    }
  }

  private async forget(): Promise<void> {
    const redis = this.options.redis();
    const prefix = literalPattern(this.options.keyPrefix);
    const goOn = (): Promise<unknown> => redis.pexpire(this.lock, REPLACING_MS);
    for (const part of ['queue', 'actor']) await removeMatchingKeys(redis, `{${prefix}:${part}:*`, goOn);
  }
}

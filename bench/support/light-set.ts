import { mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/machinery/clock/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  ResourceQuota,
} from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { RedisProcess } from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import { startRedis } from '../../src/rollkeeper/replica/supervisor/redis-process.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { ChaosReplica } from '../../test/chaos/set/replica.js';
import { LightApi } from './light-api.js';
import type { ReplicaUsage } from './usage.js';
import { usageOf } from './usage.js';
import type { RolloutWorldOptions } from './rollout-world.js';

/** The kinds that the controllers follow. */
const KINDS = [Deployment, Namespace, Pod, ReplicaSet, ResourceQuota];

/** Replicas of the controllers on a Redis of their own and a {@link LightApi}: the rest leaves the processors to them. */
export class LightSet {
  private readonly dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-light-'));
  private readonly replicas: ChaosReplica[] = [];
  private redis: RedisProcess | undefined;

  private constructor(readonly api: LightApi) {}

  static async start(options: RolloutWorldOptions): Promise<LightSet> {
    const set = new LightSet(await LightApi.start({ kinds: KINDS }));
    try {
      await set.startAll(options);
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  /** From now on, every call of a replica to the API takes so much longer. */
  slowDown(ms: number): void {
    for (const { process } of this.replicas) process.send({ chaos: 'latency', ms });
  }

  usage(): Promise<ReplicaUsage> {
    if (!this.redis) throw new Error('the set was not started');
    return usageOf({ replicas: this.replicas, redis: this.redis });
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await this.api.stop();
    await this.redis?.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private async startAll({ controllerArgs: args, dist, replicas }: RolloutWorldOptions): Promise<void> {
    const { dataDir } = this;
    mkdirSync(join(dataDir, 'redis'));
    this.redis = await startRedis({
      dataDir,
      logFd: openSync(join(dataDir, 'redis.log'), 'a'),
      clock: new SystemClock(),
      logger: silentLogger,
      onLaunch: () => undefined,
    });
    const place = {
      dataDir,
      dist,
      token: 'light',
      redisUrl: this.redis.url,
      apiPort: this.api.port,
      args,
      links: 'none',
    } as const;
    for (let index = 0; index < replicas; index++)
      this.replicas.push(new ChaosReplica({ ...place, index, random: Math.random }));
    await Promise.all(this.replicas.map((replica) => replica.start()));
    const isReady = async (): Promise<boolean> =>
      (await Promise.all(this.replicas.map((replica) => replica.isReady()))).every(Boolean) &&
      (await Promise.all(this.replicas.map((replica) => replica.leads()))).some(Boolean);
    await waitFor(isReady, { timeoutMs: 60_000, intervalMs: 50, what: 'the replicas to be ready' });
  }
}

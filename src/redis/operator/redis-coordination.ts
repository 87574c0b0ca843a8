import { RedisActorRuntime } from '../actor/redis-actor-runtime.js';
import type { QueuePair } from '@rollkeeper/runtime/actor-queue';
import type { QueueTuning } from '@rollkeeper/runtime/work-queue';
import { RedisActorQueue } from '../actor-queue/redis-actor-queue.js';
import { RedisHolderWitness } from '../leader-election/redis-holder-witness.js';
import type { RedisLeaseLinksOptions } from '../leader-election/redis-lease-links.js';
import { RedisLeaseLinks } from '../leader-election/redis-lease-links.js';
import { RedisResourceLock } from '../leader-election/redis-resource-lock.js';
import { BullMqWorkQueueConsumer } from '../work-queue/bullmq-consumer.js';
import { BullMqWorkQueue } from '../work-queue/bullmq-work-queue.js';
import { assertRedisUrl, assertUsableRedis, parseRedisUrl } from '../connection/index.js';
import type {
  Coordination,
  CoordinationFactory,
  CoordinationParts,
} from '@rollkeeper/runtime/operator/coordination';
import { RedisClusterClaims } from './redis-cluster-claims.js';

/** How long to wait at startup for a Redis that is not up. */
const REDIS_TIMEOUT_MS = 30_000;

/**
 * Coordination in one Redis: server 7 or newer, Sentinel or Cluster; queues on BullMQ.
 * @param option name of the URL in errors
 * @throws InvalidOptionError if the URL is malformed
 */
export function redisCoordination(redisUrl: string, option = 'redisUrl'): CoordinationFactory {
  assertRedisUrl(redisUrl, option);
  return (parts) => new RedisCoordination(redisUrl, option, parts);
}

class RedisCoordination implements Coordination {
  readonly name = 'redis';
  readonly actors: RedisActorRuntime;
  readonly claims: RedisClusterClaims;
  /** Shared by the lease and the witness. */
  private readonly lease: RedisLeaseLinksOptions;
  private readonly links: RedisLeaseLinks;
  private readonly isOneServer: boolean;
  private readonly closings: (() => void | Promise<void>)[] = [];

  constructor(
    private readonly redisUrl: string,
    private readonly option: string,
    private readonly parts: CoordinationParts,
  ) {
    const { clock, keyPrefix, logger } = parts;
    this.isOneServer = parseRedisUrl(redisUrl).kind !== 'cluster';
    this.actors = new RedisActorRuntime({ redisUrl, keyPrefix, clock, logger });
    this.lease = { url: redisUrl, keyPrefix: `${keyPrefix}:`, name: 'leader', logger };
    this.links = new RedisLeaseLinks(this.lease);
    this.claims = new RedisClusterClaims({ redis: () => this.links.commands, keyPrefix, clock });
    this.closings.push(
      () => this.actors.close(),
      () => this.links.close(),
    );
  }

  queueOf(controller: string, tuning?: QueueTuning): QueuePair {
    const { redisUrl } = this;
    const { clock, drainTimeoutMs, keyPrefix, logger, metrics, spreadAfterMs } = this.parts;
    const options = { ...tuning, drainTimeoutMs, spreadAfterMs };
    const dependencies = { name: controller, redisUrl, keyPrefix, clock, logger, metrics, options };
    if (this.isOneServer) return this.pairOf(new RedisActorQueue(dependencies));
    // In a Cluster, queue and actor may be on different servers and cannot share a script.
    return this.pairOf(new BullMqWorkQueue(dependencies));
  }

  private pairOf<Started extends object>(queue: BullMqWorkQueue<Started>) {
    this.closings.push(() => queue.close());
    return { queue, consumer: new BullMqWorkQueueConsumer({ queue, logger: this.parts.logger }) };
  }

  lockOf(identity: string): RedisResourceLock {
    return new RedisResourceLock({ ...this.lease, links: this.links, identity });
  }

  witnessOf(identity: string): RedisHolderWitness {
    const { clock, logger } = this.parts;
    return new RedisHolderWitness({ links: this.links, identity, clock, logger });
  }

  waitUntilUsable(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.parts;
    return assertUsableRedis(this.redisUrl, {
      clock,
      logger,
      signal,
      timeoutMs: REDIS_TIMEOUT_MS,
      option: this.option,
    });
  }

  async ping(): Promise<void> {
    await this.actors.ping();
  }

  async close(): Promise<void> {
    const ends = await Promise.allSettled(this.closings.map(async (close) => close()));
    for (const end of ends)
      if (end.status === 'rejected')
        this.parts.logger.warn('a connection to Redis did not close cleanly', {
          error: end.reason as unknown,
        });
  }
}

import { RedisActorRuntime } from '../activation/redis-actor-runtime.js';
import type { Activations, ActorRuntime, StartedLock } from '@rollkeeper/runtime/activation';
import { QueuedActivations } from '@rollkeeper/runtime/activation';
import { RedisActivationQueue } from '../activation/redis-activation-queue.js';
import { RedisHolderWitness } from '../leader-election/redis-holder-witness.js';
import type { RedisLeaseLinksOptions } from '../leader-election/redis-lease-links.js';
import { RedisLeaseLinks } from '../leader-election/redis-lease-links.js';
import { RedisResourceLock } from '../leader-election/redis-resource-lock.js';
import { RedisSlotTable } from '../slots/redis-slot-table.js';
import { BullMqWorkQueueConsumer } from '../work-queue/bullmq-consumer.js';
import { BullMqWorkQueue } from '../work-queue/bullmq-work-queue.js';
import {
  SharedSteps,
  SparingPing,
  assertRedisUrl,
  assertUsableRedis,
  createRedisConnection,
  parseRedisUrl,
} from '../connection/index.js';
import { localActivations } from '@rollkeeper/runtime/operator/local-activations';
import type {
  ActivationsOptions,
  Coordination,
  CoordinationFactory,
  CoordinationParts,
} from '@rollkeeper/runtime/operator/coordination';
import { RedisClusterClaims } from './redis-cluster-claims.js';
import { RedisEventLedger } from './redis-event-ledger.js';

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
  private readonly actors: RedisActorRuntime;
  readonly claims: RedisClusterClaims;
  readonly eventLedger: RedisEventLedger;
  /** Shared by the lease and the witness. */
  private readonly lease: RedisLeaseLinksOptions;
  private readonly links: RedisLeaseLinks;
  private readonly isOneServer: boolean;
  private readonly steps: SharedSteps;
  private readonly sparingPing: SparingPing;
  private readonly closings: (() => void | Promise<void>)[] = [];

  constructor(
    private readonly redisUrl: string,
    private readonly option: string,
    private readonly parts: CoordinationParts,
  ) {
    const { clock, keyPrefix, logger, random } = parts;
    this.isOneServer = parseRedisUrl(redisUrl).kind !== 'cluster';
    this.actors = new RedisActorRuntime({ redisUrl, keyPrefix, clock, random, logger });
    this.lease = { url: redisUrl, keyPrefix: `${keyPrefix}:`, name: 'leader', logger };
    this.links = new RedisLeaseLinks(this.lease);
    // A connection of its own: renewals of the lease wait for nothing else.
    const glances = createRedisConnection({
      ...{ url: redisUrl, connectionName: 'rollkeeper-glances', logger },
      autoPipelining: false,
    });
    this.steps = new SharedSteps(() => glances);
    this.sparingPing = new SparingPing(() => this.links.commands);
    this.claims = new RedisClusterClaims({ redis: () => this.links.commands, keyPrefix, clock, random });
    this.eventLedger = new RedisEventLedger({ redis: () => this.links.commands, keyPrefix });
    this.closings.push(
      () => this.actors.close(),
      () => this.links.close(),
      () => glances.disconnect(),
    );
  }

  activationsOf(controller: string, { tuning, waitsIn }: ActivationsOptions = {}): Activations {
    const { redisUrl } = this;
    if (waitsIn === 'local') return localActivations(controller, this.actorsSeen(), this.parts, tuning);
    const { clock, drainTimeoutMs, keyPrefix, logger, metrics, random, spreadAfterMs } = this.parts;
    const options = { ...tuning, drainTimeoutMs, spreadAfterMs };
    const dependencies = { name: controller, redisUrl, keyPrefix, clock, random, logger, metrics, options };
    if (this.isOneServer)
      return this.activationsOn(new RedisActivationQueue({ ...dependencies, steps: this.steps }));
    // In a Cluster, queue and actor may be on different servers and cannot share a script.
    return this.activationsOn(new BullMqWorkQueue(dependencies));
  }

  private activationsOn<Started extends StartedLock>(queue: BullMqWorkQueue<Started>): Activations {
    const { clock, logger, queueView = (each) => each, random } = this.parts;
    this.closings.push(() => queue.close());
    const consumer = new BullMqWorkQueueConsumer({ queue, logger });
    const actors = this.actorsSeen();
    return new QueuedActivations({ queue: queueView(queue), consumer, actors, clock, random, logger });
  }

  slotTableOf(count: number): RedisSlotTable {
    const { keyPrefix, logger } = this.parts;
    const name = `slots-${count}`;
    const table = new RedisSlotTable({ url: this.redisUrl, keyPrefix: `${keyPrefix}:`, name, logger });
    this.closings.push(() => table.close());
    return table;
  }

  private actorsSeen(): ActorRuntime {
    return this.parts.actorsView?.(this.actors) ?? this.actors;
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
    await this.sparingPing.ping();
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

import * as z from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { DEFAULT_SPREAD_AFTER_MS } from '../defaults.js';

/** Options of one queue; every replica must use the same. All times in milliseconds. */
export interface WorkQueueOptions {
  /** Consecutive rate-limited adds before a key is parked. @default 15 */
  maxRetries?: number;
  /** Interval at which a key parked because of failures is retried once. @default 180000 */
  parkedRetryMs?: number;
  /** Delay after the first failure; doubles with each. @default 5 */
  backoffBaseMs?: number;
  /** @default 1000000 */
  backoffMaxMs?: number;
  /** Rate-limited adds per second over all keys. @default 10 */
  bucketRatePerSecond?: number;
  /** @default 100 */
  bucketBurst?: number;
  /** A key of low priority that has waited this long takes its namespace's turn among all others. @default 5000 */
  agingMs?: number;
  /**
   * How long other replicas leave a key to the leader, so that they only help when it cannot keep up. 0: all take keys
   * at once. @default 0
   */
  spreadAfterMs?: number;
  /** A worker that has not renewed for this long is considered dead. @default 2000 */
  lockDurationMs?: number;
  /** How often to check for keys of dead workers. @default 300 */
  stalledIntervalMs?: number;
  /** How long running handlers may continue after a stop before their signals abort. @default 10000 */
  drainTimeoutMs?: number;
  /** Interval for aging, overdue timers and gauges. @default 1000 */
  maintenanceIntervalMs?: number;
  /** A key that waits this long without a job is repaired. @default 5000 */
  strayAfterMs?: number;
}

/** The options of a queue that a controller may set: how its failures come back. */
export type QueueTuning = Pick<
  WorkQueueOptions,
  'maxRetries' | 'parkedRetryMs' | 'backoffBaseMs' | 'backoffMaxMs' | 'bucketRatePerSecond' | 'bucketBurst'
>;

export type CompiledWorkQueueOptions = Readonly<Required<WorkQueueOptions>>;

/** Failover of a killed worker: its lock expires, then at most two checks for stalled jobs pass. */
const MAX_TAKEOVER_MS = 3000;

const schema = z
  .object({
    maxRetries: z.int().min(0).default(15),
    parkedRetryMs: z.number().positive().default(180_000),
    backoffBaseMs: z.number().positive().default(5),
    backoffMaxMs: z.number().positive().default(1_000_000),
    bucketRatePerSecond: z.number().positive().default(10),
    bucketBurst: z.int().min(1).default(100),
    agingMs: z.int().min(1).default(5000),
    spreadAfterMs: z.int().min(0).default(DEFAULT_SPREAD_AFTER_MS),
    lockDurationMs: z.int().min(200).default(2000),
    stalledIntervalMs: z.int().min(50).default(300),
    drainTimeoutMs: z.int().min(0).default(10_000),
    maintenanceIntervalMs: z.int().min(50).default(1000),
    strayAfterMs: z.int().min(100).default(5000),
  })
  .refine((o) => o.backoffMaxMs >= o.backoffBaseMs, {
    path: ['backoffMaxMs'],
    message: 'must not be less than backoffBaseMs',
  })
  .refine((o) => o.stalledIntervalMs < o.lockDurationMs, {
    path: ['stalledIntervalMs'],
    message: 'must be less than lockDurationMs',
  })
  .refine((o) => o.lockDurationMs + 2 * o.stalledIntervalMs <= MAX_TAKEOVER_MS, {
    path: ['lockDurationMs'],
    message: `plus twice stalledIntervalMs must not exceed ${MAX_TAKEOVER_MS}: so long a dead worker's key waits`,
  });

/** @throws InvalidOptionError naming the option */
export function compileWorkQueueOptions(options: WorkQueueOptions = {}): CompiledWorkQueueOptions {
  return compileOptions(schema, options, 'workQueue');
}

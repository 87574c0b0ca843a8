import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { assertRedisUrl } from '@rollkeeper/redis/connection';

export interface RedisStorageOptions {
  /** `redis://[user:password@]host:port[/db]`, or `rediss://` for TLS. */
  url: string;
  /** In front of every key; two stores with different prefixes know nothing of each other. @default 'rollkeeper:' */
  keyPrefix?: string;
  /**
   * How many writes the watch log keeps, about. A watch or page that needs an older one answers "expired" and its
   * client lists again. Costs twice the objects' size in Redis.
   * @default 12000
   */
  maxLogEntries?: number;
  /** The same in characters of JSON, old and new states together. @default 256 Mi */
  maxLogTextLength?: number;
  /**
   * Writes older than this leave the watch log as well, as a genuine API server lets them leave etcd: pages of a list
   * that began before then end as expired. @default 300000 (five minutes)
   */
  maxLogAgeMs?: number;
  /**
   * The number of the log's entries that this process holds in memory; older ones are read from Redis. @default 4096
   */
  maxRingEntries?: number;
  /** The same in characters of JSON. @default 24 Mi */
  maxRingTextLength?: number;
  /**
   * The number of objects of which this process remembers the newest state, to begin an update from it. @default 10000
   */
  maxKnownObjects?: number;
  /** The same in characters of JSON. @default 24 Mi */
  maxKnownTextLength?: number;
  /**
   * Milliseconds between two reads of the watch log. The first write after a silence is delivered at once; later ones
   * within this time are delivered together, which costs every watcher and the server one packet instead of many. 0: no
   * delay. @default 10
   */
  watchBatchMs?: number;
  /** How long one command may take before it fails with StorageUnavailableError. @default 2000 */
  commandTimeoutMs?: number;
  /** @default the system's */
  clock?: Clock;
  /** @default silent */
  logger?: Logger;
  /** Distinguishes the writes of this process from those of others. @default random */
  processId?: string;
}

const schema = z.object({
  keyPrefix: z.string().default('rollkeeper:'),
  maxLogEntries: z.int().min(1).default(12_000),
  maxLogTextLength: z
    .int()
    .min(1)
    .default(256 * 1024 * 1024),
  maxLogAgeMs: z.number().positive().default(300_000),
  maxRingEntries: z.int().min(1).default(4096),
  maxRingTextLength: z
    .int()
    .min(1)
    .default(24 * 1024 * 1024),
  maxKnownObjects: z.int().min(0).default(10_000),
  maxKnownTextLength: z
    .int()
    .min(0)
    .default(24 * 1024 * 1024),
  watchBatchMs: z.number().min(0).max(1000).default(10),
  commandTimeoutMs: z.number().positive().default(2000),
});

export type CompiledRedisStorageOptions = Readonly<z.infer<typeof schema>> & {
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly processId: string;
};

/** @throws InvalidOptionError */
export function compileRedisStorageOptions(options: RedisStorageOptions): CompiledRedisStorageOptions {
  assertRedisUrl(options.url);
  return Object.freeze({
    ...compileOptions(schema, options, 'storage'),
    url: options.url,
    clock: options.clock ?? new SystemClock(),
    logger: options.logger ?? silentLogger,
    processId: options.processId ?? randomUUID().slice(0, 18),
  });
}

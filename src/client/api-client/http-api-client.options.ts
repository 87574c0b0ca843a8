import * as z from 'zod';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemRandom } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ApiClientMetrics } from './api-client-metrics.js';
import { noApiClientMetrics } from './api-client-metrics.js';
import type { ApiConnections } from './connections.js';
import type { ClusterConnection } from './cluster-connection.js';
import type { RetryLimits } from './decide-retry.js';

/** The options of {@link createHttpApiClient}. */
export interface HttpApiClientOptions {
  connection: ClusterConnection;
  /** For example `rollkeeper/0.1.0 (controller)`. */
  userAgent: string;
  clock: Clock;
  /** @default silent */
  logger?: Logger;
  /** @default none */
  metrics?: ApiClientMetrics;
  /** @default SystemRandom */
  random?: RandomSource;
  /** Connections for everything but watches; further requests wait. @default 64 */
  maxSockets?: number;
  /** Timeout of a whole read or write, milliseconds. Slightly above the server's own 30 s. @default 32000 */
  requestTimeoutMs?: number;
  /** Timeout for opening a connection, TLS included, milliseconds. @default 10000 */
  connectTimeoutMs?: number;
  /** Attempts of one request that is safe to repeat, including the first. @default 5 */
  maxAttempts?: number;
  /** For tests: a network of their own in place of sockets. @default sockets */
  connections?: ApiConnections;
}

export interface CompiledHttpApiClientOptions {
  readonly maxSockets: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly userAgent: string;
  readonly connection: ClusterConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomSource;
  readonly metrics: ApiClientMetrics;
  readonly retry: RetryLimits;
  readonly connections?: ApiConnections;
}

const numbers = z.object({
  userAgent: z.string().regex(/^[\x20-\x7e]+$/, 'must be printable ASCII'),
  maxSockets: z.int().min(1).default(64),
  requestTimeoutMs: z.number().positive().default(32_000),
  connectTimeoutMs: z.number().positive().default(10_000),
  maxAttempts: z.int().min(1).default(5),
});

/** @throws InvalidOptionError naming the option */
export function compileHttpApiClientOptions(options: HttpApiClientOptions): CompiledHttpApiClientOptions {
  const { maxAttempts, ...compiled } = compileOptions(numbers, options, 'apiClient');
  return Object.freeze({
    ...compiled,
    connection: options.connection,
    connections: options.connections,
    clock: options.clock,
    logger: options.logger ?? silentLogger,
    random: options.random ?? new SystemRandom(),
    metrics: options.metrics ?? noApiClientMetrics,
    // 100, 200, 400, 800 ms: enough for a server restart; a Retry-After up to 10 s is waited out.
    retry: { maxAttempts, firstDelayMs: 100, maxDelayMs: 10_000 },
  });
}

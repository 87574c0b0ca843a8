import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** Limits of one server, so that no client can starve others. Beyond the limits on requests a client gets 429. */
export interface ServerLimits {
  /** Requests that read, watches left out, under way at once. kube-apiserver: `--max-requests-inflight`. @default 400 */
  maxReadsInFlight?: number;
  /** The same of requests that write. kube-apiserver: `--max-mutating-requests-inflight`. @default 200 */
  maxWritesInFlight?: number;
  /** How many times as many may wait for their turn. @default 8 */
  waitingFactor?: number;
  /** @default 4000 */
  maxWatches?: number;
  /** How long a request may wait for its turn, milliseconds, before it is asked to come again. kube-apiserver: a quarter of its time. @default 15000 */
  maxWaitMs?: number;
  /** When there are more, idle ones give way: first those that have shown no credentials. @default 10000 */
  maxConnections?: number;
  /**
   * The number of connections of one address that have shown no credentials; then its own idle ones give way. Not on
   * loopback, where all users have one address. Behind a proxy, of all that it passes on. @default 1000
   */
  maxUnknownPerAddress?: number;
  /** How long one that has shown no credentials may be idle between requests, milliseconds. @default 5000 */
  unknownIdleMs?: number;
  /** Address and headers of a request, bytes. @default 64 Ki */
  maxHeaderBytes?: number;
  /** Until address and headers have been sent, milliseconds. @default 10000 */
  headersTimeoutMs?: number;
  /** Until a request has been sent whole, milliseconds. @default 60000 */
  requestTimeoutMs?: number;
  /** For how long the rest of a request that was refused is waited for, milliseconds. @default 2000 */
  lingerMs?: number;
  /** Large bodies being read or processed, bytes. @default 24 Mi */
  maxBodyBytes?: number;
  /** Answers that wait for their readers, and what they are made from; in characters. @default 48 Mi */
  maxAnswerBytes?: number;
  /** The same of watches. @default 48 Mi */
  maxWatchBytes?: number;
  /** How long an answer, or a large body, may stall while others need the room, milliseconds. @default 2000 */
  patienceMs?: number;
  /** The same of a watch, whose client can continue from where it was. @default 1000 */
  watchPatienceMs?: number;
  /** How long anything may stall if the room is not needed, milliseconds. @default 30000 */
  stallMs?: number;
}

const count = (standard: number) => z.int().min(1).default(standard);

const schema = z.object({
  maxReadsInFlight: count(400),
  maxWritesInFlight: count(200),
  waitingFactor: z.int().min(0).default(8),
  maxWatches: count(4000),
  maxWaitMs: count(15_000),
  maxConnections: count(10_000),
  maxUnknownPerAddress: count(1000),
  unknownIdleMs: count(5000),
  maxHeaderBytes: count(64 * 1024),
  headersTimeoutMs: count(10_000),
  requestTimeoutMs: count(60_000),
  lingerMs: count(2000),
  maxBodyBytes: count(24 * 1024 * 1024),
  maxAnswerBytes: count(48 * 1024 * 1024),
  maxWatchBytes: count(48 * 1024 * 1024),
  patienceMs: count(2000),
  watchPatienceMs: count(1000),
  stallMs: count(30_000),
});

export type CompiledServerLimits = Readonly<z.infer<typeof schema>>;

/** @throws InvalidOptionError */
export function compileServerLimits(limits: ServerLimits = {}): CompiledServerLimits {
  return compileOptions(schema, limits, 'limits');
}

import { z } from 'zod';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** How often a request or an event of a watch meets a fault by chance: shares from 0 to 1. */
export interface FaultRates {
  /** Updates and patches: 409, and nothing is done. @default 0 */
  readonly conflict?: number;
  /** Everything but watches: 429 with Retry-After, and nothing is done. @default 0 */
  readonly tooManyRequests?: number;
  /** Everything but watches: 500, and nothing is done. @default 0 */
  readonly errorBefore?: number;
  /** Writes: they are done, and 500 is the answer. @default 0 */
  readonly errorAfter?: number;
  /** Everything but watches: the connection breaks, and nothing is done. @default 0 */
  readonly lostBefore?: number;
  /** Writes: they are done, and the connection breaks in place of an answer. @default 0 */
  readonly lostAfter?: number;
  /** Events of watches: the watch breaks after it. @default 0 */
  readonly watchCut?: number;
  /** Events of watches: 410 in its place, so that the client has to list again. @default 0 */
  readonly watchGone?: number;
  /** Events of watches: it comes late by `watchDelayMs`, and so do those behind it. @default 0 */
  readonly watchDelay?: number;
}

/** The options of {@link startFaults}. */
export interface FaultsOptions {
  /** Faults by chance are the same with the same seed. @default a new one; it is in `faults.seed` and in the log */
  readonly seed?: number;
  /** @default none */
  readonly rates?: FaultRates;
  /** Faults by chance are for these alone: plurals, `pods` or `deployments.apps`. @default all but leases */
  readonly resources?: readonly string[];
  /** The `Retry-After` of answers with 429, unless `failNext` names one. @default 1 */
  readonly retryAfterSeconds?: number;
  /** How late an event is by the rate `watchDelay`, milliseconds. @default 250 */
  readonly watchDelayMs?: number;
  /** The port of 127.0.0.1; 0 lets the system choose. @default 0 */
  readonly port?: number;
  /** For delays, and behind `faults.clock`. @default the system's */
  readonly clock?: Clock;
  /** Draws the seed, if there is none. @default the system's */
  readonly random?: RandomSource;
  /** Logs the seed and each fault. @default silent */
  readonly logger?: Logger;
}

const share = z.number().min(0, 'must be from 0 to 1').max(1, 'must be from 0 to 1').default(0);
const rates = z.strictObject({
  conflict: share,
  tooManyRequests: share,
  errorBefore: share,
  errorAfter: share,
  lostBefore: share,
  lostAfter: share,
  watchCut: share,
  watchGone: share,
  watchDelay: share,
});
const schema = z.object({
  seed: z.int().min(0).max(0xffff_ffff).optional(),
  resources: z.array(z.string().min(1)).optional(),
  retryAfterSeconds: z.int().min(0).default(1),
  watchDelayMs: z.int().min(0).default(250),
  port: z.int().min(0).max(65_535).default(0),
});

export type CompiledFaultRates = Readonly<Required<FaultRates>>;
export type CompiledFaultsOptions = ReturnType<typeof compileFaultsOptions>;

/** @throws InvalidOptionError naming the rate */
export function compileFaultRates(given: FaultRates = {}): CompiledFaultRates {
  const compiled = compileOptions(rates, given, 'rates');
  const { watchCut, watchDelay, watchGone, ...ofRequests } = compiled;
  const sumOf = (shares: readonly number[]): number => shares.reduce((sum, each) => sum + each, 0);
  if (sumOf(Object.values(ofRequests)) > 1 || watchCut + watchDelay + watchGone > 1)
    throw new InvalidOptionError(
      'rates',
      'those of requests, and those of watches, must not add up to more than 1',
    );
  return compiled;
}

/** @throws InvalidOptionError naming the option */
export function compileFaultsOptions(options: FaultsOptions = {}) {
  const { rates: given, clock, logger, random, ...rest } = options;
  const { seed, ...compiled } = compileOptions(schema, rest);
  return Object.freeze({
    ...compiled,
    seed: seed ?? Math.trunc((random ?? new SystemRandom()).next() * 2 ** 32),
    rates: compileFaultRates(given),
    clock: clock ?? new SystemClock(),
    logger: logger ?? silentLogger,
  });
}

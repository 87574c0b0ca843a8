import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** How events are gathered and written; the defaults are client-go's unless said otherwise. */
export interface EventRecorderOptions {
  /**
   * Event objects that may wait to be written; beyond that the oldest is dropped. A thousand Deployments that roll out at once
   * make some 6000 (our choice: client-go keeps 1000). @default 10000
   */
  maxQueued?: number;
  /**
   * Writes under way at once, about different objects: at 5 ms each 1600 events a second, while it leaves most connections to
   * the controllers (our choice: client-go writes one after the other). @default 8
   */
  maxConcurrentWrites?: number;
  /** Similar events (all the same but the message) after which they are combined into one. @default 10 */
  similarBeforeCombining?: number;
  /** Time in which they count as similar, milliseconds. @default 600000 */
  similarWithinMs?: number;
  /** Event writes that one object may cause at once. @default 25 */
  burstPerObject?: number;
  /** After the burst, one more each so many milliseconds. @default 300000 */
  refillEveryMs?: number;
  /** Objects and events that are remembered for all this. @default 4096 */
  remembered?: number;
  /** Attempts to write one event before it is given up. @default 12 */
  maxAttempts?: number;
  /** First wait between attempts, milliseconds; doubles (our choice: client-go waits 10 s). @default 100 */
  retryBaseMs?: number;
  /** Longest wait between attempts, milliseconds. @default 10000 */
  retryMaxMs?: number;
  /** How long a stop may take to write what waits, milliseconds (our choice). @default 2000 */
  flushTimeoutMs?: number;
}

export type CompiledEventRecorderOptions = Readonly<Required<EventRecorderOptions>>;

const schema = z
  .strictObject({
    maxQueued: z.int().positive().default(10_000),
    maxConcurrentWrites: z.int().positive().default(8),
    similarBeforeCombining: z.int().min(2).default(10),
    similarWithinMs: z.number().positive().default(600_000),
    burstPerObject: z.int().positive().default(25),
    refillEveryMs: z.number().positive().default(300_000),
    remembered: z.int().positive().default(4096),
    maxAttempts: z.int().positive().default(12),
    retryBaseMs: z.number().positive().default(100),
    retryMaxMs: z.number().positive().default(10_000),
    flushTimeoutMs: z.number().nonnegative().default(2000),
  })
  .refine((options) => options.retryMaxMs >= options.retryBaseMs, {
    path: ['retryMaxMs'],
    message: 'must not be below retryBaseMs',
  });

/** @throws InvalidOptionError naming the option */
export function compileEventRecorderOptions(
  options: EventRecorderOptions = {},
): CompiledEventRecorderOptions {
  return compileOptions(schema, options, 'eventRecorder');
}

import * as z from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** How events are collected and written; the defaults are client-go's unless noted. */
export interface EventRecorderOptions {
  /**
   * Limit of Event objects waiting to be written; beyond it the oldest is dropped. A thousand simultaneous rollouts
   * make some 6000 (our choice: client-go keeps 1000). @default 10000
   */
  maxQueued?: number;
  /**
   * Concurrent writes, about different objects: 1600 events a second at 5 ms each, while most connections are left to
   * the controllers (our choice: client-go writes one after the other). @default 8
   */
  maxConcurrentWrites?: number;
  /** Number of similar events (only the message differs) after which they are combined into one. @default 10 */
  similarBeforeCombining?: number;
  /** Time window for similar events, milliseconds. @default 600000 */
  similarWithinMs?: number;
  /** Burst of event writes per object. @default 25 */
  burstPerObject?: number;
  /** After the burst, the interval between two writes per object, milliseconds. @default 300000 */
  refillEveryMs?: number;
  /** Number of objects and events remembered for this. @default 4096 */
  remembered?: number;
  /** Attempts to write one event. @default 12 */
  maxAttempts?: number;
  /** First delay between attempts, milliseconds; doubles (our choice: client-go waits 10 s). @default 100 */
  retryBaseMs?: number;
  /** Longest delay between attempts, milliseconds. @default 10000 */
  retryMaxMs?: number;
  /** Time to write waiting events on shutdown, milliseconds (our choice). @default 2000 */
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

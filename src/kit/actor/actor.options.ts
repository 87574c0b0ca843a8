import { z } from 'zod';
import { compileOptions } from '../../base/options/compile-options.js';

/** Tuning of the actors; all replicas must use the same. */
export interface ActorOptions {
  /** How long a crashed activation's lock stays. Renewed every third of it. @default 2500 */
  lockDurationMs?: number;
  /** What is kept of an actor vanishes so long after it was touched last. @default 3600000 */
  idleTtlMs?: number;
}

export type CompiledActorOptions = Readonly<Required<ActorOptions>>;

/** Below this, an event-loop stall or a garbage collection looks like a crash. */
const MIN_LOCK_DURATION_MS = 300;

const schema = z
  .object({
    lockDurationMs: z.int().min(MIN_LOCK_DURATION_MS).default(2500),
    idleTtlMs: z.int().positive().default(3_600_000),
  })
  .refine((options) => options.idleTtlMs >= 10 * options.lockDurationMs, {
    path: ['idleTtlMs'],
    message: 'must be at least ten times lockDurationMs, so that nothing vanishes under a lock',
  });

/** @throws InvalidOptionError naming the option */
export function compileActorOptions(options: ActorOptions = {}): CompiledActorOptions {
  return compileOptions(schema, options, 'actor');
}

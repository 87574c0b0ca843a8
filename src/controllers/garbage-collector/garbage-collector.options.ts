import { z } from 'zod';
import type { ResourceType } from '../../kubernetes/index.js';
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../kubernetes/index.js';
import { compileOptions } from '../../options/compile-options.js';

export interface GarbageCollectorOptions {
  /** Types that are watched, collected, and whose deletion is noticed at once. @default pods, replicasets, deployments */
  types?: readonly ResourceType[];
  /**
   * Whether a deletion that an informer reports is one. Set it to false where informers are limited by label or field:
   * there an object that merely leaves the selection looks deleted. @default true
   */
  trustDeletions?: boolean;
  /** Absent owners remembered. @default 20000 */
  absentOwnerCapacity?: number;
  /** Milliseconds until an owner is looked for that is not in the cache when its dependent is. @default 1000 */
  unseenOwnerDelayMs?: number;
  /** Milliseconds between two looks at owners whose types are not watched. @default 120000 */
  unmonitoredRecheckMs?: number;
}

export type CompiledGarbageCollectorOptions = Readonly<Required<GarbageCollectorOptions>>;

const schema: z.ZodType<CompiledGarbageCollectorOptions> = z.strictObject({
  types: z
    .array(
      z.object({
        group: z.string(),
        version: z.string().min(1),
        resource: z.string().min(1),
        kind: z.string().min(1),
        namespaced: z.boolean(),
      }),
    )
    .min(1)
    .readonly()
    .default([PODS, REPLICA_SETS, DEPLOYMENTS]),
  trustDeletions: z.boolean().default(true),
  absentOwnerCapacity: z.int().positive().default(20_000),
  unseenOwnerDelayMs: z.number().nonnegative().default(1_000),
  unmonitoredRecheckMs: z.number().positive().default(120_000),
});

/** @throws InvalidOptionError naming the option */
export function compileGarbageCollectorOptions(
  options: GarbageCollectorOptions = {},
): CompiledGarbageCollectorOptions {
  return compileOptions(schema, options, 'garbageCollector');
}

import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

export interface GarbageCollectorOptions {
  /**
   * Types that are not followed, by qualified resource: their objects own nothing and are not collected.
   * @default events of both groups, as kube-controller-manager has it: there are too many
   */
  ignoredResources?: readonly string[];
  /**
   * Milliseconds between two questions which types the server has. A CustomResourceDefinition that comes or goes is asked
   * about after half a second. @default 30000, as kube-controller-manager has it
   */
  discoveryIntervalMs?: number;
  /**
   * Whether a deletion that an informer reports is one. Set it to false where informers are limited by label or field:
   * there an object that merely leaves the selection looks deleted. @default true
   */
  trustDeletions?: boolean;
  /** Absent owners remembered. @default 20000 */
  absentOwnerCapacity?: number;
  /** Milliseconds until an owner is looked for that is not in the cache when its dependent is. @default 1000 */
  unseenOwnerDelayMs?: number;
  /** Milliseconds between two looks at owners whose types cannot be followed. @default 120000 */
  unmonitoredRecheckMs?: number;
  /** Milliseconds until what an owner owes its dependents is looked at again while a type is listed. @default 500 */
  fillingRecheckMs?: number;
}

/** Source: `DefaultIgnoredResources` in k/k pkg/controller/garbagecollector/graph_builder.go. */
const IGNORED_RESOURCES = ['events', 'events.events.k8s.io'];

const schema = z.strictObject({
  ignoredResources: z
    .array(z.string().min(1))
    .readonly()
    .default(IGNORED_RESOURCES)
    .transform((names): ReadonlySet<string> => new Set(names)),
  discoveryIntervalMs: z.number().positive().default(30_000),
  trustDeletions: z.boolean().default(true),
  absentOwnerCapacity: z.int().positive().default(20_000),
  unseenOwnerDelayMs: z.number().nonnegative().default(1_000),
  unmonitoredRecheckMs: z.number().positive().default(120_000),
  fillingRecheckMs: z.number().positive().default(500),
});

export type CompiledGarbageCollectorOptions = Readonly<z.output<typeof schema>>;

/** @throws InvalidOptionError naming the option */
export function compileGarbageCollectorOptions(
  options: GarbageCollectorOptions = {},
): CompiledGarbageCollectorOptions {
  return compileOptions(schema, options, 'garbageCollector');
}

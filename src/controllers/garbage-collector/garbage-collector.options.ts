import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

export interface GarbageCollectorOptions {
  /**
   * Types that are not watched, by qualified resource: their objects own nothing and are not collected.
   * @default events of both groups, as in kube-controller-manager: there are too many
   */
  ignoredResources?: readonly string[];
  /**
   * Discovery interval, milliseconds. After a change of a CustomResourceDefinition discovery runs within half a second.
   * @default 30000, as in kube-controller-manager
   */
  discoveryIntervalMs?: number;
  /**
   * Whether to trust deletions reported by informers. Set it to false if informers are limited by label or field: an
   * object that merely leaves the selection looks deleted there. @default true
   */
  trustDeletions?: boolean;
  /** Number of absent owners remembered. @default 4096 */
  absentOwnerCapacity?: number;
  /** Delay before checking an owner that is not cached when its dependent is, milliseconds. @default 1000 */
  unseenOwnerDelayMs?: number;
  /** Interval for checking owners of types that cannot be watched, milliseconds. @default 120000 */
  unmonitoredRecheckMs?: number;
  /** Delay before checking an owner's duty again while a type is being listed, milliseconds. @default 500 */
  fillingRecheckMs?: number;
  /**
   * With slots, interval for checking an owner without a namespace that waits for its dependents, of which other replicas see the
   * deletion, milliseconds. @default 1000
   */
  elsewhereRecheckMs?: number;
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
  absentOwnerCapacity: z.int().positive().default(4096),
  unseenOwnerDelayMs: z.number().nonnegative().default(1_000),
  unmonitoredRecheckMs: z.number().positive().default(120_000),
  fillingRecheckMs: z.number().positive().default(500),
  elsewhereRecheckMs: z.number().positive().default(1_000),
});

export type CompiledGarbageCollectorOptions = Readonly<z.output<typeof schema>>;

/** @throws InvalidOptionError naming the option */
export function compileGarbageCollectorOptions(
  options: GarbageCollectorOptions = {},
): CompiledGarbageCollectorOptions {
  return compileOptions(schema, options, 'garbageCollector');
}

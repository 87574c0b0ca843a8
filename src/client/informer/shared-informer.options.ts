import { z } from 'zod';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ListWatcher } from './list-everything.js';
import type { ReflectorConfig } from './reflector.js';
import type { StreamingLists } from './streaming-lists.js';
import type { Trim } from './trim.js';

export interface SharedInformerOptions<T extends KubernetesObject> {
  type: ResourceType;
  client: ListWatcher;
  clock: Clock;
  random: RandomSource;
  logger: Logger;
  /** Only these namespaces, each listed and watched by itself. No matter for types without namespaces. @default all */
  namespaces?: readonly string[];
  labelSelector?: string;
  fieldSelector?: string;
  /** Shrinks objects before they are cached. @default drops managedFields */
  trim?: Trim<T>;
  /** Whether it has {@link NAMESPACE_INDEX} and {@link OWNER_UID_INDEX}, which cost memory for each object. @default true */
  standardIndexes?: boolean;
  /** Freezes cached objects, for tests: a write to one throws. @default false */
  freeze?: boolean;
  /** Shows handlers every cached object again (`modified` with itself) this often; 0 never. @default 0 */
  resyncPeriodMs?: number;
  /** Objects in one page of a list, as client-go's pager. @default 500 */
  pageSize?: number;
  /**
   * The server ends a watch after so long, or up to a third more; one that it does not end is dead. So this is what it takes
   * to notice a connection on which nothing arrives any more, at the price of one request each time. @default 15
   */
  watchTimeoutSeconds?: number;
  /** Silence beyond that after which a connection counts as dead, milliseconds. @default 5000 */
  idleGraceMs?: number;
  /** Who waits for a resourceVersion for longer than this, milliseconds, makes the server be asked for its own. @default 2000 */
  doubtAfterMs?: number;
  /** Where lists may be streamed. @default nowhere: they are listed in pages */
  streamingLists?: StreamingLists;
  /** First pause after a failure; doubles from there. @default 100 */
  firstBackoffMs?: number;
  /** Longest pause after a failure. @default 30000 */
  maxBackoffMs?: number;
  /** Longest pause where the server refuses, which it will often do for good. @default as `maxBackoffMs` */
  maxRefusedBackoffMs?: number;
}

const schema = z
  .object({
    namespaces: z.array(z.string().min(1)).default([]),
    labelSelector: z.string().optional(),
    fieldSelector: z.string().optional(),
    freeze: z.boolean().default(false),
    resyncPeriodMs: z.number().min(0).default(0),
    pageSize: z.int().min(1).default(500),
    watchTimeoutSeconds: z.int().min(1).default(15),
    idleGraceMs: z.number().positive().default(5_000),
    doubtAfterMs: z.number().positive().default(2_000),
    firstBackoffMs: z.number().positive().default(100),
    maxBackoffMs: z.number().positive().default(30_000),
    maxRefusedBackoffMs: z.number().positive().optional(),
  })
  .refine((options) => options.firstBackoffMs <= options.maxBackoffMs, {
    path: ['firstBackoffMs'],
    message: 'must not be longer than maxBackoffMs',
  });

export interface CompiledSharedInformerOptions {
  readonly freeze: boolean;
  readonly resyncPeriodMs: number;
  readonly doubtAfterMs: number;
  /** One for each namespace, or one for all. */
  readonly reflectors: readonly ReflectorConfig[];
}

/** @throws InvalidOptionError naming the option */
export function compileSharedInformerOptions<T extends KubernetesObject>(
  options: SharedInformerOptions<T>,
): CompiledSharedInformerOptions {
  const compiled = compileOptions(schema, options, 'informer');
  const { namespaces, firstBackoffMs, maxBackoffMs, freeze, resyncPeriodMs, doubtAfterMs, ...rest } =
    compiled;
  const { maxRefusedBackoffMs = maxBackoffMs, ...reflector } = rest;
  const backoff = { firstMs: firstBackoffMs, maxMs: maxBackoffMs };
  const refusedBackoff = { firstMs: firstBackoffMs, maxMs: maxRefusedBackoffMs };
  const isLimited = options.type.namespaced && namespaces.length > 0;
  const scopes = isLimited ? [...new Set(namespaces)] : [undefined];
  return {
    freeze,
    resyncPeriodMs,
    doubtAfterMs,
    reflectors: scopes.map((namespace) => ({ ...reflector, namespace, backoff, refusedBackoff })),
  };
}

import * as z from 'zod';
import { ObjectShard } from '../api-client/index.js';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ListWatcher } from './list-everything.js';
import type { ReflectorConfig } from './reflector.js';
import type { WatchPatrol } from './watch-patrol.js';
import type { StreamingLists } from './streaming-lists.js';
import type { Trim } from './trim.js';

export interface SharedInformerOptions<T extends KubernetesObject> {
  type: ResourceType;
  client: ListWatcher;
  clock: Clock;
  random: RandomSource;
  logger: Logger;
  /** Only these namespaces, each listed and watched separately. Ignored for cluster-scoped types. @default all */
  namespaces?: readonly string[];
  labelSelector?: string;
  fieldSelector?: string;
  /**
   * Each is listed and watched separately; of a namespaced type only, all by the namespace, without a common range. Not together with
   * `namespaces`. Empty: none yet, see `SharedInformer.setShards`. @default all objects
   */
  shards?: readonly ObjectShard[];
  /** Shrinks objects before they are cached. @default drops managedFields */
  trim?: Trim<T>;
  /**
   * Whether to maintain {@link NAMESPACE_INDEX} and {@link OWNER_UID_INDEX}, which cost memory per object. @default
   * true
   */
  standardIndexes?: boolean;
  /** Freezes cached objects, for tests: a write to one throws. @default false */
  freeze?: boolean;
  /** Shows handlers every cached object again (`modified` with itself) at this interval; 0 never. @default 0 */
  resyncPeriodMs?: number;
  /** Objects per page of a list, as in client-go's pager. @default 500 */
  pageSize?: number;
  /**
   * The server ends a watch after this time, or up to a third more; a watch that it does not end is dead. So this
   * bounds the time to notice a dead connection, at the price of one request each time. @default 15
   */
  watchTimeoutSeconds?: number;
  /** Shared by the informers of one server: then one of their watches ends so soon, and the others live twice as long. @default none */
  patrol?: WatchPatrol;
  /** Additional silence after which a connection counts as dead, milliseconds. @default 5000 */
  idleGraceMs?: number;
  /** After waiting this long for a resourceVersion, ask the server for its current one. Milliseconds. @default 2000 */
  doubtAfterMs?: number;
  /** Tracks which servers stream lists. @default no streaming: lists are paged */
  streamingLists?: StreamingLists;
  /** First pause after a failure; doubles from there. @default 100 */
  firstBackoffMs?: number;
  /** Longest pause after a failure. @default 30000 */
  maxBackoffMs?: number;
  /** Longest pause if the server refuses, which is often permanent. @default as `maxBackoffMs` */
  maxRefusedBackoffMs?: number;
}

const schema = z
  .object({
    namespaces: z.array(z.string().min(1)).default([]),
    labelSelector: z.string().optional(),
    fieldSelector: z.string().optional(),
    shards: z.array(z.instanceof(ObjectShard)).optional(),
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
  })
  .refine(({ namespaces, shards }) => namespaces.length === 0 || !shards, {
    path: ['shards'],
    message: 'cannot be watched together with namespaces',
  })
  .refine(({ shards = [] }) => shards.every(({ field }) => field === 'object.metadata.namespace'), {
    path: ['shards'],
    message: 'must be by the namespace',
  });

/** The objects of one part of an informer; unset means all. */
export type PartScope = Pick<ReflectorConfig, 'namespace' | 'shard'>;

export interface CompiledSharedInformerOptions {
  readonly freeze: boolean;
  readonly resyncPeriodMs: number;
  readonly doubtAfterMs: number;
  /** One per namespace or shard, or one for all. */
  readonly scopes: readonly PartScope[];
  /** Whether the parts are shards, which may change. */
  readonly isSharded: boolean;
  /** The configuration that all parts share. */
  readonly reflector: Omit<ReflectorConfig, keyof PartScope>;
}

/** @throws InvalidOptionError naming the option */
export function compileSharedInformerOptions<T extends KubernetesObject>(
  options: SharedInformerOptions<T>,
): CompiledSharedInformerOptions {
  const compiled = compileOptions(schema, options, 'informer');
  const { namespaces, shards, freeze, resyncPeriodMs, doubtAfterMs, ...others } = compiled;
  const { firstBackoffMs, maxBackoffMs, ...rest } = others;
  const { maxRefusedBackoffMs = maxBackoffMs, ...reflector } = rest;
  const backoff = { firstMs: firstBackoffMs, maxMs: maxBackoffMs };
  const refusedBackoff = { firstMs: firstBackoffMs, maxMs: maxRefusedBackoffMs };
  const scopes = options.type.namespaced ? scopesOf(namespaces, shards) : [{}];
  return {
    freeze,
    resyncPeriodMs,
    doubtAfterMs,
    scopes,
    isSharded: options.type.namespaced && shards !== undefined,
    reflector: { ...reflector, backoff, refusedBackoff },
  };
}

function scopesOf(
  namespaces: readonly string[],
  shards: readonly ObjectShard[] | undefined,
): readonly PartScope[] {
  if (shards) return shards.map((shard) => ({ shard }));
  return namespaces.length > 0 ? [...new Set(namespaces)].map((namespace) => ({ namespace })) : [{}];
}

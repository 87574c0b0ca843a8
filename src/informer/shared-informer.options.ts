import { z } from 'zod';
import type { Clock, RandomSource } from '../clock/index.js';
import type { KubernetesObject, ResourceType } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import { compileOptions } from '../options/compile-options.js';
import type { ListWatcher, ReflectorConfig } from './reflector.js';
import type { Trim } from './trim.js';

export interface SharedInformerOptions<T extends KubernetesObject> {
  type: ResourceType;
  client: ListWatcher;
  clock: Clock;
  random: RandomSource;
  logger: Logger;
  /** Only these namespaces. One is asked of the server, several are picked here. @default all */
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
  /** The server ends a watch after one to two times this long. @default 120 */
  watchTimeoutSeconds?: number;
  /** Silence beyond that after which a connection counts as dead, milliseconds. @default 5000 */
  idleGraceMs?: number;
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
    watchTimeoutSeconds: z.int().min(1).default(120),
    idleGraceMs: z.number().positive().default(5_000),
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
  /** What the server does not filter: the namespaces, where there are several. */
  readonly accepts: (object: KubernetesObject) => boolean;
  readonly reflector: ReflectorConfig;
}

/** @throws InvalidOptionError naming the option */
export function compileSharedInformerOptions<T extends KubernetesObject>(
  options: SharedInformerOptions<T>,
): CompiledSharedInformerOptions {
  const compiled = compileOptions(schema, options, 'informer');
  const { namespaces, firstBackoffMs, maxBackoffMs, freeze, resyncPeriodMs, ...rest } = compiled;
  const { maxRefusedBackoffMs = maxBackoffMs, ...reflector } = rest;
  const scope = options.type.namespaced ? namespaces : [];
  const allowed = new Set(scope);
  return {
    freeze,
    resyncPeriodMs,
    accepts: scope.length > 1 ? (object) => allowed.has(object.metadata.namespace ?? '') : () => true,
    reflector: {
      ...reflector,
      namespace: scope.length === 1 ? scope[0] : undefined,
      backoff: { firstMs: firstBackoffMs, maxMs: maxBackoffMs },
      refusedBackoff: { firstMs: firstBackoffMs, maxMs: maxRefusedBackoffMs },
    },
  };
}

import * as z from 'zod';
import { hostname } from 'node:os';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom, uuidOf } from '@rollkeeper/machinery/clock';
import type { LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import { DNS_1123_LABEL } from '@rollkeeper/machinery/kubernetes';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { ControllerDefinition, SyncObserver } from '../../controller/index.js';
import type { InformerFactoryOptions } from '@rollkeeper/client/informer';
import {
  DEFAULT_CAUGHT_UP_TIMEOUT_MS,
  DEFAULT_DRAIN_TIMEOUT_MS,
  DEFAULT_SPREAD_AFTER_MS,
  MOST_SLOTS,
} from '../../defaults.js';
import type { LeaderElectionOptions } from '../../leader-election/index.js';
import { compileLeaderElectionOptions } from '../../leader-election/index.js';
import type { Runnable } from '../../manager/index.js';
import type { Metrics, Tracing } from '../../telemetry/index.js';
import type { CoordinationFactory, CoordinationReach } from '../coordination/coordination.js';
import type { CoordinationMode } from './decide-coordination.js';
import { decideLock, modeOf } from './decide-coordination.js';
import type { ManagerExtensionFactory } from './manager-extension.js';
import type { ProbeServerOptions } from './probe-server.js';

/** Options of {@link createManager}. */
export interface CreateManagerOptions {
  /**
   * The operator's name, the same on all its replicas: names its keys in Redis, so that operators on one Redis are
   * separate, its user agent, its events and its `service.name`. Lower-case words with hyphens.
   */
  readonly name: string;
  /**
   * The Redis that all replicas share: `redis://host:port`, Sentinel, Cluster and TLS as described in docs/REDIS.md.
   * @default the environment's REDIS_URL
   */
  readonly redisUrl?: string;
  /** The kubeconfig file. @default kubectl's rules: KUBECONFIG, ~/.kube/config, the pod's service account */
  readonly kubeconfig?: string;
  /** A context of that file. @default its current one */
  readonly context?: string;
  /** This replica's name in the lease, logs and spans; unique. @default host name, process id and a random word */
  readonly identity?: string;
  /** Prefix of all keys in Redis. @default the name */
  readonly prefix?: string;
  /** The objects to cache. @default all objects of the kinds that controllers name, without managedFields */
  readonly cache?: Pick<
    InformerFactoryOptions,
    'namespaces' | 'selections' | 'trims' | 'freeze' | 'resyncPeriodMs'
  >;
  /** The cluster that owns the keys in Redis: a manager for another one is refused. */
  readonly cluster?: {
    /**
     * The cluster's identity; the same on all replicas.
     * @default the UID of its namespace `kube-system`, if the account may get that; otherwise there is no check
     */
    readonly identity?: string;
    /**
     * Another identity, whose keys become this cluster's: of a deleted cluster, or a previous identity. @default none
     */
    readonly replaces?: string;
  };
  readonly leaderElection?: LeaderElectionOptions & {
    /**
     * The store of the lease: Redis, or a `coordination.k8s.io` Lease with the operator's name. `none`: no lease; this
     * replica leads from start to end, for operators with one replica. A second replica would take over the shared
     * queues, and the first take them back: keys are still exclusive, but neither replica makes steady progress.
     * @default 'redis'; 'leases' with coordination: 'leases'; 'none' with coordination: 'local'
     */
    readonly lock?: 'redis' | 'leases' | 'none';
    /**
     * The namespace of that Lease; events about leadership refer to it, also if the lease is in Redis. @default
     * 'default'
     */
    readonly namespace?: string;
    /** The name of that Lease. @default the operator's */
    readonly name?: string;
    /**
     * The API server's coordinator assigns that Lease, to the oldest release (KEP-4355).
     * @default false: first come, first served
     */
    readonly coordinated?: boolean;
  };
  /**
   * Whether `all` replicas process keys or only the `leader`.
   * @default 'all'; 'leader' if the coordination cannot see other processes and the lease can
   */
  readonly reconcileOn?: 'all' | 'leader';
  /**
   * Spreads the keys of controllers that work per namespace over so many slots: each replica watches, caches and processes the
   * namespaces of some, and stands by for others. Needs a Redis, and the same number on all replicas. docs/SCALE.md says when that is worth it.
   * @default all replicas watch everything, and one of them turns changes into keys
   */
  readonly slots?: number;
  /**
   * Asserts that no other process runs a manager of this name. Required if neither the coordination nor the lease can
   * see other processes (`memoryCoordination()`), because two would both lead. @default false
   */
  readonly onlyProcess?: boolean;
  /** The address at which `/livez`, `/readyz`, `/healthz` and `/metrics` are served. @default nowhere */
  readonly probes?: ProbeServerOptions;
  /** How long keys in progress may continue after a stop, milliseconds. @default 3000 */
  readonly drainTimeoutMs?: number;
  /**
   * How long replicas that do not lead leave a key to the leader, milliseconds; with 0 every replica takes keys at once. All
   * replicas need the same value. @default 0
   */
  readonly spreadAfterMs?: number;
  /** How long a sync waits for its caches before it is postponed, milliseconds. @default 5000 */
  readonly caughtUpTimeoutMs?: number;
  /** @default JSON lines on stderr, from `info` */
  readonly logger?: Logger;
  /** @default its own, shown at `/metrics` */
  readonly metrics?: Metrics;
  /** @default OTLP if OTEL_EXPORTER_OTLP_ENDPOINT is set */
  readonly tracing?: Tracing;
  /** Run from before the informers until after everything else. @default nothing */
  readonly background?: readonly Runnable[];
  /** Watch every sync of the controllers: what is decided, and how it ends. @default none */
  readonly observers?: readonly SyncObserver[];
  /** Parts that live beside the controllers: `adminPages` of `rollkeeper/admin`, say. @default nothing */
  readonly extensions?: readonly ManagerExtensionFactory[];
  /** Replaces the one made from the kubeconfig. The caller closes it. */
  readonly client?: ApiClient;
  /** The API as one controller sees it: with its own account or rate limit. @default the manager's */
  readonly clientOf?: (definition: ControllerDefinition) => ApiClient;
  /** The CA of the API server, PEM, for controllers that publish it. @default none */
  readonly rootCa?: string;
  /** Selects objects by label, for controllers that support it. @default all */
  readonly selects?: LabelMatcher;
  /**
   * How replicas share their work: through the Redis of `redisUrl`; without one, `leases`, where the holder of a Lease
   * works alone; or `local`, for a single process. docs/KIT.md has a table of what each promises. For tests,
   * `memoryCoordination()` of `rollkeeper/testing`, with `onlyProcess`.
   * @default 'redis'
   */
  readonly coordination?: CoordinationMode | CoordinationFactory;
  /** For tests. @default the system's */
  readonly clock?: Clock;
  /** For tests. @default the system's */
  readonly random?: RandomSource;
}

const word = z
  .string()
  .regex(new RegExp(`^${DNS_1123_LABEL}$`), 'must be lower-case letters, digits and hyphens');
const milliseconds = (fallback: number, least = 1) =>
  z
    .int()
    .min(least)
    .max(24 * 3_600_000)
    .default(fallback);

const schema = z.object({
  name: word.max(63),
  kubeconfig: z.string().min(1, 'must name a file').optional(),
  context: z.string().min(1).optional(),
  identity: z.string().min(1).max(253).optional(),
  prefix: z
    .string()
    .regex(/^[\w.-]+$/, 'must be letters, digits, dots, hyphens and underscores')
    .optional(),
  reconcileOn: z.enum(['all', 'leader'], 'must be all or leader').optional(),
  slots: z.int().min(1).max(MOST_SLOTS).optional(),
  onlyProcess: z.boolean().default(false),
  drainTimeoutMs: milliseconds(DEFAULT_DRAIN_TIMEOUT_MS),
  caughtUpTimeoutMs: milliseconds(DEFAULT_CAUGHT_UP_TIMEOUT_MS),
  spreadAfterMs: milliseconds(DEFAULT_SPREAD_AFTER_MS, 0),
});

const clusterIdentity = z
  .string()
  .regex(/^[\x21-\x7e]{1,253}$/, 'must be one word of at most 253 characters')
  .optional();
const cluster = z.object({ identity: clusterIdentity, replaces: clusterIdentity });

const electionPlace = z.object({
  lock: z.enum(['redis', 'leases', 'none'], 'must be redis, leases or none').optional(),
  namespace: z.string().min(1).default('default'),
  name: z.string().min(1).optional(),
  coordinated: z.boolean().default(false),
});

const redisUrl = z.object({
  redisUrl: z.string('is required: redis://host:port, also as REDIS_URL'),
});

export type CompiledManagerOptions = ReturnType<typeof compileManagerOptions>;

/** @throws InvalidOptionError naming the option */
export function compileManagerOptions(options: CreateManagerOptions, env: NodeJS.ProcessEnv = process.env) {
  const compiled = compileOptions(schema, options);
  const { name } = compiled;
  const identity =
    compiled.identity ??
    `${hostname()}-${process.pid}-${uuidOf(options.random ?? new SystemRandom()).slice(0, 4)}`;
  const { coordinated, lock, name: leaseName, namespace, ...election } = options.leaderElection ?? {};
  const mode = modeOf(options.coordination);
  const given = compileOptions(
    electionPlace,
    { coordinated, lock, name: leaseName, namespace },
    'leaderElection',
  );
  const { reconcileOn, redisUrl } = options;
  const place = { ...given, lock: decideLock({ mode, lock: given.lock, reconcileOn, redisUrl }) };
  if (compiled.slots !== undefined) assertFitSlots(options, mode);
  if (place.coordinated && place.lock !== 'leases')
    throw new InvalidOptionError('leaderElection.coordinated', "needs lock: 'leases'");
  return Object.freeze({
    ...options,
    ...compiled,
    identity,
    prefix: compiled.prefix ?? name,
    reconcileOn: decideReconcileOn({
      reach: reachOf(options.coordination),
      lock: place.lock,
      reconcileOn,
      onlyProcess: compiled.onlyProcess || mode === 'local',
    }),
    /** Absent: the coordination is given. */
    mode,
    cluster: compileOptions(cluster, options.cluster ?? {}, 'cluster'),
    place: { ...place, name: place.name ?? name },
    election: compileLeaderElectionOptions(election),
    clock: options.clock ?? new SystemClock(),
    random: options.random ?? new SystemRandom(),
    logger: options.logger ?? createPinoLogger({ base: { operator: name, replica: identity } }),
    /** Absent: there is no Redis, or the coordination is given. */
    redisUrl: mode === 'redis' ? urlOf(options, env) : undefined,
  });
}

/** @throws InvalidOptionError */
function assertFitSlots(
  { cache: { namespaces = [] } = {}, reconcileOn }: CreateManagerOptions,
  mode: CoordinationMode | undefined,
): void {
  if (mode !== undefined && mode !== 'redis')
    throw new InvalidOptionError(
      'slots',
      `needs a Redis that all replicas share: there is none with coordination: '${mode}'`,
    );
  if (reconcileOn === 'leader')
    throw new InvalidOptionError('slots', "cannot be together with reconcileOn: 'leader'");
  if (namespaces.length > 0)
    throw new InvalidOptionError('slots', 'cannot be together with cache.namespaces');
}

function reachOf(coordination: CreateManagerOptions['coordination']): CoordinationReach | undefined {
  if (typeof coordination === 'function') return coordination.reach;
  return coordination === 'leases' || coordination === 'local' ? 'process' : undefined;
}

function urlOf(options: CreateManagerOptions, env: NodeJS.ProcessEnv): string {
  const given = options.redisUrl ?? env['REDIS_URL'];
  return compileOptions(redisUrl, { redisUrl: given || undefined }).redisUrl;
}

type WorkingReplicas = 'all' | 'leader';

interface ReconcileOnFacts {
  /** The coordination's. @default 'network' */
  readonly reach?: CoordinationReach | undefined;
  readonly lock: 'redis' | 'leases' | 'none';
  /** As configured. */
  readonly reconcileOn?: WorkingReplicas | undefined;
  /** Whether the user asserts that no other process runs such a manager. */
  readonly onlyProcess: boolean;
}

/**
 * Decides which replicas process keys. If the coordination cannot see other processes, keys are only exclusive if there
 * is no other process, or if a lease in the API makes its holder the only worker.
 * @throws InvalidOptionError
 */
export function decideReconcileOn({
  lock,
  onlyProcess,
  reach,
  reconcileOn,
}: ReconcileOnFacts): WorkingReplicas {
  if (onlyProcess || reach !== 'process') return reconcileOn ?? 'all';
  if (lock !== 'leases')
    throw new InvalidOptionError(
      'coordination',
      "cannot see other processes, and two of them would lead side by side: say coordination: 'leases', use Redis, or say onlyProcess: true where there is no other process",
    );
  if (reconcileOn === 'all')
    throw new InvalidOptionError(
      'reconcileOn',
      'must be leader with a coordination that cannot see other processes, unless onlyProcess: true: two would work on one key',
    );
  return 'leader';
}

import { z } from 'zod';
import type { TokenUser } from '@rollkeeper/apiserver';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { assertRedisUrl } from '@rollkeeper/redis/connection';
import { CONTROLLERS, selectControllers } from '@rollkeeper/controllers/registry';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import type { CompiledNodeSimulatorOptions, NodeSimulatorOptions } from '@rollkeeper/simulator';
import { compileNodeSimulatorOptions } from '@rollkeeper/simulator';
import { compileTestUsers } from './cluster-users.js';
import type { TestUser } from './cluster-users.js';
import type { Manifests } from './manifests.js';
import type { TestClusterSnapshot } from './snapshot.js';

export interface TestClusterOptions {
  /**
   * Where objects, queues and locks are kept: in this process, or on a Redis under a prefix of the cluster's own, which is
   * cleared by `stop`.
   * @default 'memory'
   */
  store?: 'memory' | { readonly redisUrl: string };
  /**
   * Which controllers run: kube-controller-manager's list (`*`, `name`, `-name`), or names and definitions, your own among
   * them. An empty list: none.
   * @default '*'
   */
  controllers?: string | readonly (string | ControllerDefinition)[];
  /** Simulated nodes, on which pods become Running and Ready; 0: none, and pods stay Pending. @default 3 */
  nodes?: number | NodeSimulatorOptions;
  /**
   * Who else comes in, beside the administrator: names, or `{ name, groups }`. They may do what roles and bindings say,
   * which are among the manifests; see `user(name)`. @default nobody
   */
  users?: readonly (string | TestUser)[];
  /** Applied, in their order, before the cluster is handed out; what they set off may still be under way. @default none */
  manifests?: Manifests;
  /** What is in the cluster from the beginning: see `snapshot()`. @default an empty cluster */
  snapshot?: TestClusterSnapshot;
  /**
   * `manual`: the time in which objects live stands still until `cluster.clock` moves it, so that `minReadySeconds`,
   * `progressDeadlineSeconds` and the like are over when a test says so. `startAt` is its first instant.
   * @default 'system'
   */
  clock?: 'system' | 'manual' | { readonly startAt: Date | string };
  /**
   * Where the Services of admission webhooks are, `namespace/name` → `host:port`: a webhook that runs in the test process
   * is found under the name that its configuration has for it.
   * @default where the Service's external name or endpoints say
   */
  webhookServices?: Readonly<Record<string, string>>;
  /** What becomes of pods whose service account is not there; a genuine cluster refuses them. @default 'warn' */
  unknownServiceAccounts?: 'warn' | 'refuse';
  /**
   * Over how many writes, of any kind, a watch can be resumed: from further back it is answered 410 (Gone), as a genuine
   * server does after some minutes. A small number shows how a client lists anew. On Redis it is a lower bound.
   * @default 12000
   */
  watchHistory?: number;
  /** Port of the API server on 127.0.0.1; 0 lets the system choose. @default 0 */
  port?: number;
  /** Aborted: the start rejects with its reason, a cluster that runs is stopped. @default none */
  signal?: AbortSignal;
  /** What the cluster says of itself. @default silent */
  logger?: Logger;
}

export interface CompiledTestClusterOptions {
  readonly redisUrl: string | undefined;
  readonly controllers: readonly ControllerDefinition[];
  /** Absent: none. */
  readonly nodes: CompiledNodeSimulatorOptions | undefined;
  readonly users: readonly TokenUser[];
  readonly manifests: Manifests;
  readonly snapshot: TestClusterSnapshot | undefined;
  /** Milliseconds since the epoch, or the machine's clock. */
  readonly clock: 'system' | { readonly startMs: number | undefined };
  readonly webhookServices: Readonly<Record<string, string>>;
  readonly unknownServiceAccounts: 'warn' | 'refuse';
  readonly watchHistory: number;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

const checked = z.object({
  watchHistory: z.int().min(1).default(12_000),
  port: z.int().min(0).max(65_535).default(0),
  unknownServiceAccounts: z.enum(['warn', 'refuse']).default('warn'),
});

const NAMES: ReadonlySet<string> = new Set<keyof TestClusterOptions>([
  'store',
  'controllers',
  'nodes',
  'users',
  'manifests',
  'snapshot',
  'clock',
  'webhookServices',
  'unknownServiceAccounts',
  'watchHistory',
  'port',
  'signal',
  'logger',
]);

/** @throws InvalidOptionError naming the option */
export function compileTestClusterOptions(options: TestClusterOptions = {}): CompiledTestClusterOptions {
  const unknown = Object.keys(options).find((name) => !NAMES.has(name));
  if (unknown !== undefined) throw new InvalidOptionError(unknown, `is none of ${[...NAMES].join(', ')}`);
  return Object.freeze({
    ...compileOptions(checked, options),
    redisUrl: redisUrlOf(options.store),
    controllers: controllersOf(options.controllers ?? '*'),
    nodes: nodesOf(options.nodes ?? {}),
    users: compileTestUsers(options.users ?? []),
    manifests: options.manifests ?? [],
    snapshot: options.snapshot,
    clock: clockOf(options.clock ?? 'system'),
    webhookServices: options.webhookServices ?? {},
    signal: options.signal ?? new AbortController().signal,
    logger: options.logger ?? silentLogger,
  });
}

function redisUrlOf(store: TestClusterOptions['store'] = 'memory'): string | undefined {
  if (store === 'memory') return undefined;
  if (typeof store !== 'object' || typeof store.redisUrl !== 'string')
    throw new InvalidOptionError('store', "is neither 'memory' nor { redisUrl }");
  assertRedisUrl(store.redisUrl);
  return store.redisUrl;
}

function controllersOf(
  chosen: NonNullable<TestClusterOptions['controllers']>,
): readonly ControllerDefinition[] {
  if (typeof chosen === 'string')
    return chosen.trim() === '' ? [] : selectControllers(chosen, { standalone: true });
  const own = chosen.filter((entry) => typeof entry !== 'string');
  const names = chosen.filter((entry) => typeof entry === 'string');
  const definitions = [
    ...(names.length === 0 ? [] : selectControllers(names.join(','), { standalone: true })),
    ...own,
  ];
  const twice = definitions.find(({ name }, index) =>
    definitions.some((other, at) => at > index && other.name === name),
  );
  if (twice) throw new InvalidOptionError('controllers', `two are called ${twice.name}`);
  return definitions;
}

/** The names that `controllers` knows. */
export const BUILT_IN_CONTROLLERS: readonly string[] = CONTROLLERS.map(({ name }) => name);

function nodesOf(nodes: number | NodeSimulatorOptions): CompiledNodeSimulatorOptions | undefined {
  if (nodes === 0) return undefined;
  return compileNodeSimulatorOptions(typeof nodes === 'number' ? { nodes } : nodes);
}

function clockOf(clock: NonNullable<TestClusterOptions['clock']>): CompiledTestClusterOptions['clock'] {
  if (clock === 'system') return clock;
  if (clock === 'manual') return { startMs: undefined };
  const startMs = typeof clock === 'object' ? new Date(clock.startAt).getTime() : Number.NaN;
  if (Number.isNaN(startMs))
    throw new InvalidOptionError('clock', "is none of 'system', 'manual' and { startAt }");
  return { startMs };
}

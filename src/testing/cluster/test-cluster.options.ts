import { z } from 'zod';
import type { TokenUser } from '@rollkeeper/apiserver';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { assertRedisUrl } from '@rollkeeper/redis/connection';
import { CONTROLLERS, selectControllers } from '@rollkeeper/controllers/registry';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { compileConfiguration, defaultConfiguration, readConfiguration } from '@rollkeeper/scheduler';
import type {
  SchedulerConfiguration,
  SchedulerPluginDefinition,
  WrittenConfiguration,
} from '@rollkeeper/scheduler';
import type { CompiledNodeSimulatorOptions, NodeSimulatorOptions } from '@rollkeeper/simulator';
import { compileNodeSimulatorOptions } from '@rollkeeper/simulator';
import type { WebhookDefinition } from '@rollkeeper/webhooks';
import { compileTestUsers } from './cluster-users.js';
import type { TestUser } from './cluster-users.js';
import type { Manifests } from './manifests.js';
import type { TestClusterSnapshot } from './snapshot.js';

/** The options of {@link startTestCluster}. */
export interface TestClusterOptions {
  /**
   * Runs the test on a cluster that exists, and removes from it what the test has made (docs/TESTING.md#on-a-cluster-of-your-own).
   * `bare`: it is an API server alone.
   * @default by the environment: `USE_EXISTING_CLUSTER=true` or `bare`; otherwise a cluster of its own
   */
  existingCluster?: boolean | 'bare' | ExistingClusterOptions;
  /**
   * The address under which the API server of an existing cluster reaches this process, for `webhooks`.
   * @default '127.0.0.1': it runs on this machine
   */
  webhookHost?: string;
  /**
   * The store of objects, queues and locks: this process, or a Redis under the cluster's own prefix, which `stop`
   * clears.
   * @default 'memory'
   */
  store?: 'memory' | { readonly redisUrl: string };
  /**
   * The controllers that run: kube-controller-manager's list (`*`, `name`, `-name`), or names and definitions,
   * including your own. An empty list: none.
   * @default '*'
   */
  controllers?: string | readonly (string | ControllerDefinition)[];
  /** Simulated nodes, on which pods become Running and Ready; 0: none, and pods stay Pending. @default 3 */
  nodes?: number | NodeSimulatorOptions;
  /**
   * The scheduler: further plug-ins, and a `KubeSchedulerConfiguration` as an object, YAML or JSON. `false`: none, and pods stay
   * Pending unless the test binds them.
   * @default the default profile, if there are simulated nodes
   */
  scheduler?: false | TestSchedulerOptions;
  /**
   * Users in addition to the administrator: names, or `{ name, groups }`. Their rights come from roles and bindings in
   * the manifests; see `user(name)`. @default none
   */
  users?: readonly (string | TestUser)[];
  /** Applied in order before the start resolves; their effects may still be in progress. @default none */
  manifests?: Manifests;
  /** Initial content of the cluster: see `snapshot()`. @default an empty cluster */
  snapshot?: TestClusterSnapshot;
  /**
   * `manual`: the time of objects only moves by `cluster.clock`, so that the test decides when `minReadySeconds`,
   * `progressDeadlineSeconds` and the like have passed. `startAt` is its first instant.
   * @default 'system'
   */
  clock?: 'system' | 'manual' | { readonly startAt: Date | string };
  /**
   * Your webhooks, which the cluster calls in this process; definitions in manifests that they convert are installed so.
   * @default none
   */
  webhooks?: readonly WebhookDefinition[];
  /**
   * Addresses of the Services of admission webhooks, `namespace/name` → `host:port`: lets a webhook in the test process
   * be called by the Service name of its configuration.
   * @default the Service's external name or endpoints
   */
  webhookServices?: Readonly<Record<string, string>>;
  /** How to treat pods whose service account does not exist; a genuine cluster refuses them. @default 'warn' */
  unknownServiceAccounts?: 'warn' | 'refuse';
  /**
   * Whether the cluster answers what pods use and what else is measured. `false`: as a cluster without metrics-server.
   * @default true
   */
  metrics?: boolean;
  /**
   * Over how many writes, of any kind, a watch can be resumed: from further back it is answered 410 (Gone), as a
   * genuine server does after some minutes. Use a small number to test how a client relists. On Redis it is a lower
   * bound.
   * @default 12000
   */
  watchHistory?: number;
  /** Port of the API server on 127.0.0.1; 0 lets the system choose. @default 0 */
  port?: number;
  /** Aborts the start with its reason, or stops a running cluster. @default none */
  signal?: AbortSignal;
  /** The cluster's own log. @default silent */
  logger?: Logger;
}

/** The form of the option `existingCluster`. */
export interface ExistingClusterOptions {
  /** @default the files in `KUBECONFIG`, else `~/.kube/config` */
  readonly kubeconfig?: string;
  /** @default the kubeconfig's current-context */
  readonly context?: string;
  /**
   * Whether the cluster is an API server alone, as envtest's: the built-in controllers, the simulated nodes and the
   * scheduler of the options run in this process, and the controllers that any cluster needs. Otherwise the cluster has
   * its own.
   * @default false
   */
  readonly bare?: boolean;
}

/** In place of the embedded API server. */
export interface ExistingClusterPlace {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly bare: boolean;
}

interface TestSchedulerOptions {
  /** Made by `defineSchedulerPlugin`; on unless the configuration says otherwise. @default none */
  readonly plugins?: readonly SchedulerPluginDefinition[];
  /** @default the default profile of kube-scheduler */
  readonly configuration?: WrittenConfiguration | string;
}

export interface CompiledTestScheduler {
  readonly plugins: readonly SchedulerPluginDefinition[];
  readonly configuration: SchedulerConfiguration;
}

export interface CompiledTestClusterOptions {
  /** Absent: a cluster of its own. */
  readonly existing: ExistingClusterPlace | undefined;
  readonly webhookHost: string;
  readonly redisUrl: string | undefined;
  readonly controllers: readonly ControllerDefinition[];
  /** Absent: none. */
  readonly nodes: CompiledNodeSimulatorOptions | undefined;
  /** Absent: none. */
  readonly scheduler: CompiledTestScheduler | undefined;
  readonly users: readonly TokenUser[];
  readonly manifests: Manifests;
  readonly snapshot: TestClusterSnapshot | undefined;
  /** Milliseconds since the epoch, or the machine's clock. */
  readonly clock: 'system' | { readonly startMs: number | undefined };
  readonly webhooks: readonly WebhookDefinition[];
  readonly webhookServices: Readonly<Record<string, string>>;
  readonly unknownServiceAccounts: 'warn' | 'refuse';
  readonly metrics: boolean;
  readonly watchHistory: number;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

const checked = z.object({
  webhookHost: z.string().min(1, 'must not be empty').default('127.0.0.1'),
  metrics: z.boolean().default(true),
  watchHistory: z.int().min(1).default(12_000),
  port: z.int().min(0).max(65_535).default(0),
  unknownServiceAccounts: z.enum(['warn', 'refuse']).default('warn'),
});

/** Selects an existing cluster, as in controller-runtime's envtest. */
const ENVIRONMENT = 'USE_EXISTING_CLUSTER';

/** Without these an API server refuses pods, lets no pod onto a new node, and keeps deleted namespaces. */
const FOUNDATION = 'serviceaccount,node-lifecycle,namespace';

const existingSchema = z.strictObject({
  kubeconfig: z.string().min(1, 'must not be empty').optional(),
  context: z.string().min(1, 'must not be empty').optional(),
  bare: z.boolean().default(false),
});

const NAMES: ReadonlySet<string> = new Set<keyof TestClusterOptions>([
  'store',
  'controllers',
  'nodes',
  'scheduler',
  'users',
  'manifests',
  'snapshot',
  'clock',
  'webhooks',
  'webhookServices',
  'unknownServiceAccounts',
  'metrics',
  'watchHistory',
  'port',
  'signal',
  'logger',
  'existingCluster',
  'webhookHost',
]);

/** @throws InvalidOptionError naming the option */
export function compileTestClusterOptions(
  options: TestClusterOptions = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): CompiledTestClusterOptions {
  const unknown = Object.keys(options).find((name) => !NAMES.has(name));
  if (unknown !== undefined) throw new InvalidOptionError(unknown, `is not one of ${[...NAMES].join(', ')}`);
  const existing = existingOf(options.existingCluster ?? existingByEnvironment(env[ENVIRONMENT]));
  if (existing) assertExistingCan(options);
  const parts = existing ? partsBeside(existing, options) : allParts(options);
  return Object.freeze({
    ...compileOptions(checked, options),
    existing,
    redisUrl: redisUrlOf(options.store),
    ...parts,
    users: compileTestUsers(options.users ?? []),
    manifests: options.manifests ?? [],
    snapshot: options.snapshot,
    clock: clockOf(options.clock ?? 'system'),
    webhooks: options.webhooks ?? [],
    webhookServices: options.webhookServices ?? {},
    signal: options.signal ?? new AbortController().signal,
    logger: options.logger ?? silentLogger,
  });
}

/** The parts that act on the cluster in this process. */
type CompiledParts = Pick<CompiledTestClusterOptions, 'controllers' | 'nodes' | 'scheduler'>;

function allParts(options: TestClusterOptions): CompiledParts {
  return {
    controllers: controllersOf(options.controllers ?? '*'),
    nodes: nodesOf(options.nodes ?? {}),
    scheduler: schedulerOf(options),
  };
}

function partsBeside({ bare }: ExistingClusterPlace, options: TestClusterOptions): CompiledParts {
  const { controllers, ...others } = allParts(options);
  if (bare)
    return { ...others, controllers: [...new Set([...controllers, ...selectControllers(FOUNDATION)])] };
  // The cluster has its own.
  const own = controllers.filter((each) => !CONTROLLERS.includes(each));
  return { controllers: own, nodes: undefined, scheduler: undefined };
}

function existingByEnvironment(value: string | undefined): boolean | 'bare' {
  const word = value?.toLowerCase() ?? '';
  if (word === 'bare') return word;
  if (!['true', 'false', ''].includes(word))
    throw new InvalidOptionError(ENVIRONMENT, `"${value}" is not one of true, false and bare`);
  return word === 'true';
}

function existingOf(
  chosen: NonNullable<TestClusterOptions['existingCluster']>,
): ExistingClusterPlace | undefined {
  if (chosen === false) return undefined;
  if (chosen === true || chosen === 'bare')
    return { kubeconfig: undefined, context: undefined, bare: chosen === 'bare' };
  if (typeof chosen !== 'object')
    throw new InvalidOptionError(
      'existingCluster',
      "is not one of true, false, 'bare' and { kubeconfig, context, bare }",
    );
  const { bare, context, kubeconfig } = compileOptions(existingSchema, chosen, 'existingCluster');
  return { kubeconfig, context, bare };
}

/** @throws InvalidOptionError naming what only a cluster of its own can do */
function assertExistingCan(options: TestClusterOptions): void {
  const { clock = 'system', snapshot, store = 'memory', users = [] } = options;
  const asked = { store: store !== 'memory', users: users.length > 0, snapshot, clock: clock !== 'system' };
  const [name] = Object.entries(asked).find(([, isAsked]) => isAsked) ?? [];
  if (name !== undefined)
    throw new InvalidOptionError(
      name,
      `needs a cluster of its own, and this one exists already (existingCluster or ${ENVIRONMENT})`,
    );
}

function schedulerOf({ nodes, scheduler }: TestClusterOptions): CompiledTestScheduler | undefined {
  if (scheduler === false || (scheduler === undefined && nodes === 0)) return undefined;
  const { configuration, plugins = [] } = scheduler ?? {};
  return { plugins, configuration: configurationOf(configuration) };
}

function configurationOf(written: TestSchedulerOptions['configuration']): SchedulerConfiguration {
  if (written === undefined) return defaultConfiguration();
  try {
    return typeof written === 'string' ? readConfiguration(written) : compileConfiguration(written);
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    const problem = error.message.replace(`${error.option}: `, '');
    throw new InvalidOptionError(`scheduler.configuration.${error.option}`, problem, { cause: error });
  }
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

/** The names accepted in `controllers`. */
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
    throw new InvalidOptionError('clock', "is not one of 'system', 'manual' and { startAt }");
  return { startMs };
}

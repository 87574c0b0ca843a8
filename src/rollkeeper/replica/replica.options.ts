import { z } from 'zod';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { DEPLOYMENT_APIS } from '@rollkeeper/controllers/deployment';
import type { DeploymentApi } from '@rollkeeper/controllers/deployment';
import type { SigningAuthority } from '@rollkeeper/controllers/certificates/certificate-controllers';
import { signingFiles } from '@rollkeeper/controllers/certificates/certificate-controllers';
import {
  controllersElsewhere,
  forDeploymentApis,
  selectControllers,
  withSigningAuthority,
} from '@rollkeeper/controllers/registry';
import { DEFAULT_SYNC_TIMEOUT_MS } from '@rollkeeper/runtime/controller';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { LeaderElectionOptions } from '@rollkeeper/runtime/leader-election';
import { LOG_LEVELS } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { assertRedisUrl } from '@rollkeeper/redis/connection';
import type { AdminTls } from '../admin-pages/index.js';
import { decideAdminTls } from '../admin-pages/index.js';
import { LOCAL_READS } from '../admin/decide-access.js';
import { readLeaderMigration } from './leader-migration.js';
import type { LeadershipOptions } from './leadership-options.js';
import { decideLeadershipOptions } from './leadership-options.js';
import { numbersPerController } from './per-controller.js';
import type { Scope } from './scope.js';
import { compileScope } from './scope.js';

const wholeNumber = (least: number, most: number) =>
  z.coerce
    .number('is not a number')
    .int('is not a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);

const LONGEST_MS = 24 * 3_600_000;
/** Far beyond what one process can use. */
const MOST_WORKERS = 10_000;

/** Who waits longer for one key to end has a stop that nobody believes in. */
const LONGEST_DRAIN_MS = 3_600_000;
/** Keys are handed over by then; the rest is what can be left unsaid: events and spans. */
const AFTER_DRAIN_MS = 1200;

/** `--name`, `--name=true`, `--name=false`, as kube-controller-manager takes them. */
const flag = (fallback: boolean) =>
  z
    .union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], 'must be true or false')
    .default(fallback);

const milliseconds = (fallback: number) => wholeNumber(1, LONGEST_MS).default(fallback);

const clusterIdentity = z
  .string()
  .regex(/^[\x21-\x7e]{1,253}$/, 'must be one word of at most 253 characters')
  .optional();

const schema = z.object({
  kubeconfig: z.string().min(1, 'must name a file').optional(),
  context: z.string().min(1).optional(),
  'redis-url': z.string('is required: redis://host:port, also as REDIS_URL'),
  'key-prefix': z
    .string()
    .regex(/^[\w.-]+$/, 'must be letters, digits, dots, hyphens and underscores')
    .default('rollkeeper'),
  'cluster-identity': clusterIdentity,
  'replaces-cluster': clusterIdentity,
  identity: z.string().min(1).max(253),
  namespaces: z.string().optional(),
  selector: z.string().optional(),
  'use-service-account-credentials': z.boolean().default(false),
  'service-account-namespace': z.string().min(1, 'must name a namespace').default('kube-system'),
  'service-account-prefix': z.string().default(''),
  'kube-api-qps': z.coerce.number('is not a number').min(0, 'must be at least 0').default(0),
  'kube-api-burst': wholeNumber(1, 100_000).optional(),
  controllers: z.string().default('*'),
  'deployment-api': z.string().default('apps/v1'),
  standalone: z.boolean().default(false),
  workers: z.string().optional(),
  'admin-host': z.string().min(1).default('127.0.0.1'),
  'admin-port': wholeNumber(0, 65535).default(0),
  'recent-traces': wholeNumber(0, 100_000).default(0),
  'admin-auth': z.enum(['token', 'delegated'], 'must be token or delegated').default('token'),
  'admin-tls-cert-file': z.string().min(1, 'must name a file').optional(),
  'admin-tls-private-key-file': z.string().min(1, 'must name a file').optional(),
  'admin-insecure-http': z.boolean().default(false),
  'admin-open-metrics': z.boolean().default(false),
  'admin-local-reads': z.enum(LOCAL_READS, 'must be anyone, own-user or token').default('anyone'),
  'admin-token-file': z.string().min(1, 'must name a file').optional(),
  'lease-duration-ms': milliseconds(2500),
  'renew-deadline-ms': milliseconds(1800),
  'retry-period-ms': milliseconds(400),
  'leader-takeover': z.enum(['witness', 'expiry'], 'must be witness or expiry').optional(),
  'leader-takeover-grace-ms': wholeNumber(0, LONGEST_MS).default(100),
  'leader-health-tolerance-ms': wholeNumber(0, LONGEST_MS).default(10_000),
  'leader-elect': flag(true),
  'leader-elect-resource-lock': z.enum(['redis', 'leases'], 'must be redis or leases').optional(),
  'leader-elect-resource-namespace': z.string().min(1, 'must name a namespace').default('kube-system'),
  'leader-elect-resource-name': z.string().min(1, 'must name a Lease').optional(),
  'leader-elect-coordinated': z.boolean().default(false),
  'cluster-signing-cert-file': z.string().min(1, 'must name a file').optional(),
  'cluster-signing-key-file': z.string().min(1, 'must name a file').optional(),
  'leader-migration-config': z.string().min(1, 'must name a file').optional(),
  'reconcile-on': z.enum(['all', 'leader'], 'must be all or leader').optional(),
  'drain-timeout-ms': wholeNumber(1, LONGEST_DRAIN_MS).default(3000),
  'caught-up-timeout-ms': milliseconds(5000),
  'sync-timeout-ms': z.string().optional(),
  'log-level': z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  'log-format': z.enum(['json', 'pretty'], 'must be json or pretty').default('json'),
});

/**
 * Options of `rollkeeper controller`, as typed:
 *
 * - `kubeconfig`, `context`: the API to work on; without a file, kubectl's own rules, down to the pod's service account
 * - `redis-url`: the Redis that all replicas share; `key-prefix` (default `rollkeeper`) keeps installations apart
 * - `cluster-identity`: what the cluster is known by, default the UID of its namespace `kube-system`: the keys in Redis are of one cluster,
 *   and a replica that works for another one ends with an error; `replaces-cluster`: a former identity, whose keys become this cluster's
 * - `identity`: this replica's name in leases, logs and spans; unique
 * - `namespaces`: only these, comma-separated, each listed and watched by itself, so that Roles in them are all the rights
 *   that are needed; `selector`: only Deployments with such labels, with all that they own, and ReplicaSets of nobody else's
 *   with such labels. Installations of different scopes may share a Redis: their keys begin with `KEY-PREFIX-ID`, where ID
 *   is made of the scope
 * - `use-service-account-credentials`: each controller works as a service account of its own, by tokens that the API hands out
 *   for it, `service-account-prefix` + its name (`deployment-controller`) in `service-account-namespace` (default
 *   `kube-system`); informers, leases and health checks go on to use the given credentials
 * - `kube-api-qps`: requests per second of each controller, in the long run, with `kube-api-burst` at once (default twice as
 *   many); 0, the default, leaves that to the server (priority and fairness)
 * - `standalone`: whether no kube-controller-manager works beside, default false; then `*` stands for all controllers there are
 * - `controllers`: which to run, default `*` (see {@link selectControllers}); `workers`: for example `deployment=5,replicaset=10`
 * - `deployment-api`: whose Deployments, `apps/v1` (default) or `rollkeeper.dev/v1`, the custom resource for clusters whose own
 *   controller cannot be switched off; both, comma-separated, make two controllers
 * - `cluster-signing-cert-file`, `cluster-signing-key-file`: the authority, PEM, that signs approved CertificateSigningRequests;
 *   without it nothing is signed. Both are read whenever something is signed
 * - `admin-host`, `admin-port`: default 127.0.0.1 and a port that the system chooses
 * - `admin-auth`: who else than the owner of the admin token is let in; `token` (default): nobody, `delegated`: owners of
 *   other bearer tokens, as far as the API allows by TokenReview and SubjectAccessReview
 * - `admin-token-file`: who knows its content may change things, and read from other machines
 * - `admin-tls-cert-file`, `admin-tls-private-key-file`: PEM; with them the admin port speaks TLS, and looks every 10 s whether
 *   they have changed. Without them it makes a certificate for itself where `admin-host` is not this machine alone, unless
 *   `admin-insecure-http` says that it shall speak plain HTTP there
 * - `admin-local-reads`: who on this machine reads without a token: `anyone` (default), the process's own user and root (`own-user`; only
 *   Linux tells users apart), or nobody (`token`)
 * - `admin-open-metrics`: whether `/metrics` is for everybody who reaches the port; else it is read like anything else
 * - `recent-traces`: traces kept in memory for the console; 0, the default, makes none for it
 * - `lease-duration-ms`, `renew-deadline-ms`, `retry-period-ms`: leader election, default 2500/1800/400
 * - `leader-takeover`: whether a leader whose process is gone is replaced as soon as Redis has seen its connections close
 *   (`witness`, default) or at the end of its lease (`expiry`); `leader-takeover-grace-ms`: for how long they must have been
 *   gone, default 100
 * - `leader-health-tolerance-ms`: `/livez` fails when leading work goes on for so long after its lease ended, default 10000
 * - `leader-elect`: `false` makes this replica lead from its start to its end without being elected; for installations of one replica
 * - `leader-elect-resource-lock`: where the lease is, `redis` (default) or `leases`: the Lease that
 *   `leader-elect-resource-namespace` (default `kube-system`) and `leader-elect-resource-name` (default
 *   `rollkeeper`) name; events about the leadership are about that Lease in both cases
 * - `leader-elect-coordinated`: that Lease is given by the API server's coordinator, to the oldest release (KEP-4355)
 * - `leader-migration-config`: a file that says which controllers run here while they go over from or to another controller
 *   manager, and the Lease that both share (KEP-2436); the lock is `leases` then, `reconcile-on` is `leader`, and
 *   `leader-takeover` is `expiry` by default
 * - `reconcile-on`: whether `all` replicas work on keys (default) or only the `leader`
 * - `drain-timeout-ms`: how long running keys may go on after a stop, default 3000, at most an hour; then they are handed
 *   over. The process has ended 1.2 s later, see {@link stopsWithinMs}
 * - `caught-up-timeout-ms`: how long a sync waits for its caches, default 5000
 * - `sync-timeout-ms`: how long a sync may take, that wait included, before it is told to end and tried again; `60000`, or by
 *   controller, `60000,namespace=300000`; default 120000, of the namespace controller 600000
 * - `log-level` (default `info`), `log-format` (`json` or `pretty`)
 */
export type ReplicaOptions = z.input<typeof schema>;

export type CompiledReplicaOptions = Readonly<
  Omit<z.output<typeof schema>, keyof LeadershipOptions> & LeadershipOptions
> & {
  readonly definitions: readonly ControllerDefinition[];
  /** Of `controllers`: genuine names of what has nothing to do here. */
  readonly elsewhere: readonly string[];
  /** Of `deployment-api`, each once. */
  readonly deploymentApis: readonly DeploymentApi[];
  readonly scope: Scope;
  /** Of what this installation keeps in Redis; see {@link Scope.id}. */
  readonly 'key-prefix': string;
  /** Workers by controller. */
  readonly workersOf: ReadonlyMap<string, number>;
  /** By controller. */
  readonly syncTimeoutMsOf: ReadonlyMap<string, number>;
  readonly adminTls: AdminTls;
};

/** @throws InvalidOptionError naming the option */
export function compileReplicaOptions(options: unknown): CompiledReplicaOptions {
  const compiled = compileOptions(schema, options);
  assertRedisUrl(compiled['redis-url']);
  const deploymentApis = readDeploymentApis(compiled['deployment-api']);
  const chosen = selectControllers(compiled.controllers, { standalone: compiled.standalone });
  const selected = withSigningAuthority(
    forDeploymentApis(chosen, deploymentApis),
    signingAuthorityOf(compiled),
  );
  const file = compiled['leader-migration-config'];
  const migration = file === undefined ? undefined : readLeaderMigration(file, selected);
  const { definitions = selected } = migration ?? {};
  const workersOf = numbersPerController(compiled.workers, definitions, {
    option: 'workers',
    forAll: false,
    range: [1, MOST_WORKERS],
    defaultOf: ({ defaultWorkers }) => defaultWorkers,
  });
  const scope = compileScope(compiled, definitions);
  const suffix = scope.id === undefined ? '' : `-${scope.id}`;
  return Object.freeze({
    ...compiled,
    ...decideLeadershipOptions(compiled, migration, `rollkeeper${suffix}`),
    'key-prefix': compiled['key-prefix'] + suffix,
    definitions,
    elsewhere: controllersElsewhere(compiled.controllers),
    deploymentApis,
    workersOf,
    syncTimeoutMsOf: syncTimeouts(compiled, definitions),
    adminTls: adminTlsOf(compiled),
    scope,
  });
}

/** @throws InvalidOptionError when only one of the two files is named */
function signingAuthorityOf(compiled: z.output<typeof schema>): SigningAuthority | undefined {
  const [cert, key] = [compiled['cluster-signing-cert-file'], compiled['cluster-signing-key-file']];
  if (cert === undefined && key === undefined) return undefined;
  const missing = cert === undefined ? 'cluster-signing-cert-file' : 'cluster-signing-key-file';
  if (cert === undefined || key === undefined)
    throw new InvalidOptionError(missing, 'goes together with the other file of the authority');
  return signingFiles(cert, key);
}

/** @throws InvalidOptionError */
function readDeploymentApis(list: string): readonly DeploymentApi[] {
  const names = new Set(list.split(',').map((name) => name.trim()));
  for (const name of names) {
    if (!DEPLOYMENT_APIS.some((api) => api === name))
      throw new InvalidOptionError('deployment-api', `"${name}" is none of ${DEPLOYMENT_APIS.join(', ')}`);
  }
  return DEPLOYMENT_APIS.filter((api) => names.has(api));
}

/** What the options of the admin port's certificate are called. */
export const ADMIN_TLS_NAMES = {
  certFile: 'admin-tls-cert-file',
  keyFile: 'admin-tls-private-key-file',
  insecureHttp: 'admin-insecure-http',
} as const;

function adminTlsOf(compiled: z.output<typeof schema>): AdminTls {
  const { certFile, insecureHttp, keyFile } = ADMIN_TLS_NAMES;
  return decideAdminTls(
    {
      host: compiled['admin-host'],
      certFile: compiled[certFile],
      keyFile: compiled[keyFile],
      insecureHttp: compiled[insecureHttp],
    },
    ADMIN_TLS_NAMES,
  );
}

/** The process has ended so long after a stop was asked for, whatever it still did; whoever stops it waits as long. */
export function stopsWithinMs(options: Pick<CompiledReplicaOptions, 'drain-timeout-ms'>): number {
  return options['drain-timeout-ms'] + AFTER_DRAIN_MS;
}

/** What the elector is told of them. */
export function leaderElectionOf(options: CompiledReplicaOptions): LeaderElectionOptions {
  return {
    leaseDurationMs: options['lease-duration-ms'],
    renewDeadlineMs: options['renew-deadline-ms'],
    retryPeriodMs: options['retry-period-ms'],
    takeover: options['leader-takeover'],
    witnessGraceMs: options['leader-takeover-grace-ms'],
    healthToleranceMs: options['leader-health-tolerance-ms'],
  };
}

/** A sync may need all of the time that it has for its caches, and must have some left then. */
function syncTimeouts(
  compiled: z.output<typeof schema>,
  definitions: readonly ControllerDefinition[],
): ReadonlyMap<string, number> {
  const option = 'sync-timeout-ms';
  const timeouts = numbersPerController(compiled[option], definitions, {
    option,
    forAll: true,
    range: [1, LONGEST_MS],
    defaultOf: ({ syncTimeoutMs = DEFAULT_SYNC_TIMEOUT_MS }) => syncTimeoutMs,
  });
  const caughtUpMs = compiled['caught-up-timeout-ms'];
  for (const [name, timeoutMs] of timeouts) {
    if (timeoutMs <= caughtUpMs)
      throw new InvalidOptionError(
        option,
        `${timeoutMs} of ${name} must be more than caught-up-timeout-ms, ${caughtUpMs}`,
      );
  }
  return timeouts;
}

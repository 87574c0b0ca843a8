import type { DeploymentApi, HostRule, RolloutChecksOptions } from '@rollkeeper/controllers/deployment';
import { parseHostRules, DEPLOYMENT_APIS } from '@rollkeeper/controllers/deployment';
import { CheckResultFeed } from './check-result-feed.js';
import type { ConsoleCluster } from '../admin/clusters/index.js';
import { parseConsoleClusters } from '../admin/clusters/index.js';
import { parseConsoleUrl } from '../insight/object-pages/console-addresses.js';
import type { OidcOptions } from '../admin/oidc/index.js';
import { decideOidcOptions } from '../admin/oidc/index.js';
import type { EventSink } from '../insight/events/index.js';
import { parseSinks } from '../insight/events/index.js';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import type { SigningAuthority } from '@rollkeeper/controllers/certificates/certificate-controllers';
import { signingFiles } from '@rollkeeper/controllers/certificates/certificate-controllers';
import {
  controllersElsewhere,
  forDeploymentApis,
  selectControllers,
  withEvictionRequests,
  withSigningAuthority,
} from '@rollkeeper/controllers/registry';
import { DEFAULT_SYNC_TIMEOUT_MS } from '@rollkeeper/runtime/defaults';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { LeaderElectionOptions } from '@rollkeeper/runtime/leader-election';
import { compileTable } from '@rollkeeper/machinery/options/compile-table';
import { assertRedisUrl } from '@rollkeeper/redis/connection';
import type { WebhookServerOptions } from '@rollkeeper/webhooks';
import type { AdminTls } from '../admin/pages/index.js';
import { decideAdminTls } from '../admin/pages/index.js';
import { readLeaderMigration } from './leader-migration.js';
import type { LeadershipOptions } from './leadership-options.js';
import { decideLeadershipOptions } from './leadership-options.js';
import { numbersPerController } from './per-controller.js';
import type { CheckedReplicaOptions, ReplicaOptions } from './replica-options.table.js';
import { LEADERSHIP_DEFAULTS, REPLICA_OPTIONS_TABLE } from './replica-options.table.js';
import type { Scope } from './scope.js';
import { assertFitSlots } from './slot-options.js';
import { compileScope } from './scope.js';
import { parseWebhookAddress } from './eviction-webhook.js';

const OWN_CONFIGURATION = 'rollkeeper-evictions';

/** @throws InvalidOptionError naming the option */
function decideEvictionWebhook(compiled: CheckedReplicaOptions): WebhookServerOptions | undefined {
  const address = compiled['eviction-webhook'];
  if (address === undefined) return undefined;
  const reachedAt = parseWebhookAddress(address, 'eviction-webhook');
  const installed = compiled['eviction-webhook-configuration'];
  const configurationName = installed ?? OWN_CONFIGURATION;
  return {
    reachedAt,
    port: compiled['eviction-webhook-port'],
    certificates: certificatesOf(compiled),
    secret: { name: `${configurationName}-tls` },
    configurations: installed === undefined ? 'apply' : 'patch',
    configurationName,
  };
}

/** @throws InvalidOptionError if only one of the two files is named */
function certificatesOf(compiled: CheckedReplicaOptions): WebhookServerOptions['certificates'] {
  const [certFile, keyFile] = [
    compiled['eviction-webhook-tls-cert-file'],
    compiled['eviction-webhook-tls-private-key-file'],
  ];
  if (certFile === undefined && keyFile === undefined) return 'managed';
  if (certFile === undefined || keyFile === undefined)
    throw new InvalidOptionError(
      `eviction-webhook-tls-${certFile === undefined ? 'cert' : 'private-key'}-file`,
      'goes together with the other file of the certificate',
    );
  return { certFile, keyFile };
}

const LONGEST_MS = 24 * 3_600_000;
/** Far beyond what one process can use. */
const MOST_WORKERS = 10_000;

/** Keys are handed over by then; the rest (events and spans) may be lost. */
const AFTER_DRAIN_MS = 1200;

export type CompiledReplicaOptions = Readonly<
  Omit<CheckedReplicaOptions, keyof LeadershipOptions | 'problems' | 'redis-url'> & LeadershipOptions
> & {
  /** The settings of the leader's look for problems. */
  readonly problems: NonNullable<CheckedReplicaOptions['problems']>;
  /** Undefined: there is no Redis. */
  readonly 'redis-url': string | undefined;
  readonly definitions: readonly ControllerDefinition[];
  /** In `controllers`: valid names of controllers that do not exist here. */
  readonly elsewhere: readonly string[];
  /** The APIs of `deployment-api`, each once. */
  readonly deploymentApis: readonly DeploymentApi[];
  readonly scope: Scope;
  /** Prefix of this installation's keys in Redis; see {@link Scope.id}. */
  readonly 'key-prefix': string;
  /** Workers by controller. */
  readonly workersOf: ReadonlyMap<string, number>;
  /** By controller. */
  readonly syncTimeoutMsOf: ReadonlyMap<string, number>;
  readonly adminTls: AdminTls;
  /** The results of rollouts' checks. */
  readonly checkResults: CheckResultFeed;
  /** The receivers of CloudEvents. */
  readonly eventSinks: readonly EventSink[];
  /** The hosts that notifications may be sent to. */
  readonly notificationHosts: readonly HostRule[];
  /** Undefined: evictions are not held by this installation. */
  readonly evictionWebhook: WebhookServerOptions | undefined;
  /** Undefined: no identity provider signs people in. */
  readonly oidc: OidcOptions | undefined;
  /** The clusters of `console-clusters`. */
  readonly clusters: readonly ConsoleCluster[];
};

/** @throws InvalidOptionError naming the option */
export function compileReplicaOptions(options: ReplicaOptions): CompiledReplicaOptions {
  const compiled = compileTable(REPLICA_OPTIONS_TABLE, options);
  const redisUrl = redisUrlOf(compiled);
  const deploymentApis = readDeploymentApis(compiled['deployment-api']);
  const chosen = chosenControllers(compiled);
  const checkResults = new CheckResultFeed();
  const selected = withEvictionRequests(
    forDeploymentApis(chosen, deploymentApis, {
      blueGreen: compiled['blue-green'],
      traffic: compiled.traffic,
      experimentServices: compiled['experiment-services'],
      zones: compiled.zones,
      statefulSets: compiled['stateful-sets'],
      daemonSets: compiled['daemon-sets'],
      maxRollouts: compiled['max-rollouts'] === 'off' ? 'off' : Number(compiled['max-rollouts']),
      respectDisruptionBudgets: compiled['respect-disruption-budgets'],
      restartOnConfig: compiled['restart-on-config'],
      pinConfig: compiled['pin-config'],
      drainSessions: compiled['drain-sessions'],
      evictionRequests: compiled['eviction-requests'],
      watchAdmission: compiled['watch-admission'],
      lastingHistory: compiled['lasting-history'],
      checks: rolloutChecksOf(compiled, checkResults),
    }),
    compiled,
  );
  const migration = leaderMigrationOf(compiled, selected);
  const { definitions = selected } = migration ?? {};
  const workersOf = numbersPerController(compiled.workers, definitions, {
    option: 'workers',
    forAll: false,
    range: [1, MOST_WORKERS],
    defaultOf: ({ defaultWorkers }) => defaultWorkers,
  });
  const scope = compileScope(compiled, definitions);
  const suffix = scope.id === undefined ? '' : `-${scope.id}`;
  const leadership = decideLeadershipOptions(compiled, migration, LEADERSHIP_DEFAULTS.name + suffix);
  assertFitSlots({ ...compiled, ...leadership, 'redis-url': redisUrl });
  return Object.freeze({
    ...compiled,
    'redis-url': redisUrl,
    problems: compiled.problems ?? (compiled.standalone ? 'all' : 'deployments'),
    ...leadership,
    'key-prefix': compiled['key-prefix'] + suffix,
    definitions,
    elsewhere: controllersElsewhere(compiled.controllers),
    deploymentApis,
    workersOf,
    syncTimeoutMsOf: syncTimeouts(compiled, definitions),
    adminTls: adminTlsOf(compiled),
    checkResults,
    evictionWebhook: decideEvictionWebhook(compiled),
    'console-url': parseConsoleUrl(compiled['console-url'], 'console-url'),
    oidc: decideOidcOptions(compiled),
    clusters: parseConsoleClusters(compiled['console-clusters'], 'console-clusters'),
    eventSinks: parseSinks(compiled['cloudevents-sink'] ?? '', 'cloudevents-sink'),
    notificationHosts: parseHostRules(compiled['notification-hosts'], 'notification-hosts'),
    scope,
  });
}

/** @throws InvalidOptionError */
function leaderMigrationOf(
  { 'leader-migration-config': file }: CheckedReplicaOptions,
  selected: readonly ControllerDefinition[],
): ReturnType<typeof readLeaderMigration> | undefined {
  return file === undefined ? undefined : readLeaderMigration(file, selected);
}

/** @throws InvalidOptionError */
function chosenControllers(compiled: CheckedReplicaOptions): readonly ControllerDefinition[] {
  const selected = selectControllers(compiled.controllers, { standalone: compiled.standalone });
  return withSigningAuthority(selected, signingAuthorityOf(compiled));
}

/**
 * Without a Redis, one that the environment names is not ours to use.
 * @throws InvalidOptionError
 */
function redisUrlOf({ coordination, 'redis-url': url }: CheckedReplicaOptions): string | undefined {
  if (coordination !== 'redis') return undefined;
  if (url === undefined)
    throw new InvalidOptionError(
      'redis-url',
      'is required: redis://host:port, also as REDIS_URL; or use coordination=leases',
    );
  assertRedisUrl(url);
  return url;
}

/** @throws InvalidOptionError naming an entry of the hosts */
function rolloutChecksOf(
  compiled: CheckedReplicaOptions,
  results: CheckResultFeed,
): RolloutChecksOptions | undefined {
  const hosts = parseHostRules(compiled['check-hosts'], 'check-hosts');
  if (!compiled['rollout-checks']) return undefined;
  return {
    hosts,
    readsSecrets: compiled['check-secrets'],
    keyFile: compiled['check-signing-key-file'],
    onMeasured: (result) => results.tell(result),
  };
}

/** @throws InvalidOptionError if only one of the two files is named */
function signingAuthorityOf(compiled: CheckedReplicaOptions): SigningAuthority | undefined {
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
      throw new InvalidOptionError('deployment-api', `"${name}" is not one of ${DEPLOYMENT_APIS.join(', ')}`);
  }
  return DEPLOYMENT_APIS.filter((api) => names.has(api));
}

/** Names of the admin port's certificate options. */
export const ADMIN_TLS_NAMES = {
  certFile: 'admin-tls-cert-file',
  keyFile: 'admin-tls-private-key-file',
  insecureHttp: 'admin-insecure-http',
} as const;

function adminTlsOf(compiled: CheckedReplicaOptions): AdminTls {
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

/** Upper bound on shutdown; supervisors must wait this long. */
export function stopsWithinMs(options: Pick<CompiledReplicaOptions, 'drain-timeout-ms'>): number {
  return options['drain-timeout-ms'] + AFTER_DRAIN_MS;
}

/** The elector's options. */
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

/** A sync may need all of the time for its caches, and must have some left then. */
function syncTimeouts(
  compiled: CheckedReplicaOptions,
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
        `${timeoutMs} of ${name} must be greater than caught-up-timeout-ms, ${caughtUpMs}`,
      );
  }
  return timeouts;
}

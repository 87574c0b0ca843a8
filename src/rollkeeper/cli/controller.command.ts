import { hostname } from 'node:os';
import type { Command } from 'commander';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import type { OnServing } from '../admin-pages/index.js';
import { addApiOptions, addRedisOptions, redisUrlOf } from './shared-options.js';

/**
 * Of a replica, the caches are most of what lives, and little of what is allocated stays: 251 MiB with 20 000 pods in place of 286 to 440,
 * for CPU that could not be told from none (docs/PERFORMANCE.md).
 */
const HEAP_GROWS_BY_PERCENT = 50;

/** `rollkeeper controller`: one replica against any Kubernetes API. */
export function registerControllerCommand(program: Command): void {
  const command = addRedisOptions(program.command('controller'), 'the Redis that all replicas share');
  addApiOptions(command, "the API to work on (default: kubectl's rules, down to the pod's service account)")
    .description('run one replica of the controllers against a Kubernetes API')
    .option('--key-prefix <prefix>', 'keeps installations on one Redis apart (default: rollkeeper)')
    .option(
      '--cluster-identity <word>',
      'what the cluster is known by, whose keys those are (default: the UID of its namespace kube-system)',
    )
    .option(
      '--replaces-cluster <word>',
      'the identity of a cluster that is gone, or has become this one: its keys become those of this cluster',
    )
    .option('--identity <name>', "this replica's unique name (default: host name and process id)")
    .option('--namespaces <list>', 'work in these alone, each watched by itself (default: all)')
    .option(
      '--selector <labels>',
      'work on Deployments with such labels alone, for example shard=a, and on all that they own (default: all)',
    )
    .option(
      '--use-service-account-credentials',
      'each controller works as a service account of its own (default: all as the kubeconfig says)',
    )
    .option('--service-account-namespace <name>', 'where those are (default: kube-system)')
    .option(
      '--service-account-prefix <text>',
      'before their names, such as deployment-controller (default: none)',
    )
    .option(
      '--kube-api-qps <number>',
      "requests per second of each controller (default: 0, the server's own limits)",
    )
    .option('--kube-api-burst <count>', 'of them at once (default: twice as many)')
    .option(
      '--controllers <list>',
      "kube-controller-manager's names; * for all (without --standalone: deployment, replicaset, garbage-collector, namespace), -name for all but one; the first mention counts; names of what has nothing to do here are passed over (default: *)",
    )
    .option(
      '--deployment-api <list>',
      'whose Deployments: apps/v1, rollkeeper.dev/v1 (for clusters whose own controller cannot be switched off), or both (default: apps/v1)',
    )
    .option(
      '--standalone',
      'no kube-controller-manager works beside: * stands for all controllers there are, those of Services, budgets, nodes, quotas and the like too (docs/CONTROLLERS.md)',
    )
    .option(
      '--cluster-signing-cert-file <file>',
      'the authority that signs approved CertificateSigningRequests, PEM (default: nothing is signed)',
    )
    .option('--cluster-signing-key-file <file>', 'its private key, PEM')
    .option('--workers <list>', 'keys worked on at once, for example deployment=5,replicaset=10')
    .option('--admin-host <address>', 'where health, metrics and status are served (default: 127.0.0.1)')
    .option('--admin-port <port>', 'their port; 0 lets the system choose (default: 0)')
    .option('--recent-traces <count>', 'traces kept in memory for the console (default: 0, none)')
    .option(
      '--admin-token-file <file>',
      'its content lets people change things, and read from other machines (default: nobody may)',
    )
    .option(
      '--admin-auth <how>',
      'token: that token alone; delegated: the API is asked about others, by TokenReview and SubjectAccessReview (default: token)',
    )
    .option(
      '--admin-tls-cert-file <file>',
      'serve them over TLS with this certificate, PEM (default: self-made where they can be reached from elsewhere)',
    )
    .option('--admin-tls-private-key-file <file>', 'its private key, PEM')
    .option(
      '--admin-insecure-http',
      'serve them over plain HTTP also where they can be reached from elsewhere',
    )
    .option(
      '--admin-local-reads <how>',
      'who on this machine reads without a token: anyone, own-user (and root; on Linux), or nobody: token (default: anyone)',
    )
    .option(
      '--admin-open-metrics',
      'let everybody who reaches the port read /metrics (default: read like anything else)',
    )
    .option('--lease-duration-ms <ms>', 'leader lease (default: 2500)')
    .option('--renew-deadline-ms <ms>', 'the leader gives up after so long without a renewal (default: 1800)')
    .option('--retry-period-ms <ms>', 'between attempts to acquire or renew (default: 400)')
    .option(
      '--leader-takeover <when>',
      'witness: as soon as Redis sees that the leader is gone; expiry: at the end of its lease (default: witness)',
    )
    .option('--leader-takeover-grace-ms <ms>', 'for so long it must have been gone (default: 100)')
    .option(
      '--leader-health-tolerance-ms <ms>',
      'leading work that goes on for so long after the lease ended fails /livez (default: 10000)',
    )
    .option(
      '--leader-elect [bool]',
      'false: this replica leads without being elected; for installations of one replica (default: true)',
    )
    .option('--leader-elect-resource-lock <kind>', 'where the lease is: redis or leases (default: redis)')
    .option('--leader-elect-resource-namespace <name>', "the Lease's namespace (default: kube-system)")
    .option('--leader-elect-resource-name <name>', "the Lease's name (default: rollkeeper)")
    .option(
      '--leader-elect-coordinated',
      "stand for the Lease by a LeaseCandidate: the API server's coordinator gives it to the oldest release",
    )
    .option(
      '--leader-migration-config <file>',
      'a LeaderMigrationConfiguration: what runs here while controllers go over from or to another manager',
    )
    .option('--reconcile-on <who>', 'all: every replica works on keys; leader: only that one (default: all)')
    .option(
      '--drain-timeout-ms <ms>',
      'how long running keys may go on after a stop, an hour at most (default: 3000)',
    )
    .option('--caught-up-timeout-ms <ms>', 'how long a sync waits for its caches (default: 5000)')
    .option(
      '--sync-timeout-ms <list>',
      'how long a sync may take before it is told to end and tried again, for example 60000,namespace=300000 (default: 120000, namespace 600000)',
    )
    .option('--log-level <level>', 'debug, info, warn or error (default: info)')
    .option('--log-format <format>', 'json or pretty (default: json)')
    .action((flags: Record<string, string>) =>
      runUntilStopped((signal, endWithin) => run(flags, signal, endWithin)),
    );
}

async function run(
  flags: Record<string, string>,
  signal: AbortSignal,
  endWithin: (graceMs: number) => void,
): Promise<void> {
  // Only now: a process shall not hold in memory what another command needs.
  const { compileReplicaOptions, runReplica, stopsWithinMs } = await import('../replica/index.js');
  const options = compileReplicaOptions(replicaOptionsOf(flags, process.env));
  const stops = { stopsWithinMs: stopsWithinMs(options) };
  endWithin(stops.stopsWithinMs);
  const onServing: OnServing = (replica) => {
    heapIsLoaded(HEAP_GROWS_BY_PERCENT);
    tellParent({ type: 'ready', ...replica, ...stops });
  };
  return runReplica(options, onServing, signal);
}

/** The options of a replica, as its flags and its environment say them. */
export function replicaOptionsOf(
  { redisCaFile, redisUrl, ...flags }: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Record<string, string | undefined> {
  return {
    'redis-url': redisUrlOf({ redisUrl, redisCaFile }, env),
    identity: `${hostname()}-${process.pid}`,
    ...Object.fromEntries(Object.entries(flags).map(([name, value]) => [hyphenated(name), value])),
  };
}

/** commander hands `--key-prefix` over as `keyPrefix`. */
function hyphenated(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

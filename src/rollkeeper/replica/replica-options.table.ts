import { LOG_LEVELS } from '@rollkeeper/machinery/logging';
import type { CompiledTable, GivenOptions } from '@rollkeeper/machinery/options/option-table';
import {
  decimal,
  file,
  flag,
  milliseconds,
  onOrOff,
  oneOf,
  text,
  wholeNumber,
} from '@rollkeeper/machinery/options/option-table';
import {
  DEFAULT_CAUGHT_UP_TIMEOUT_MS,
  DEFAULT_DRAIN_TIMEOUT_MS,
  DEFAULT_SPREAD_AFTER_MS,
  DEFAULT_SYNC_TIMEOUT_MS,
  LEADER_ELECTION_DEFAULTS,
} from '@rollkeeper/runtime/defaults';
import { LOCAL_READS } from '../admin/decide-access.js';
import { OIDC_RIGHTS } from '../oidc/oidc-options.js';
import { REDIS_URL_OPTION, redisUrlHelp } from '../redis-url-option.js';

/** A longer stop would be of no use. */
const LONGEST_DRAIN_MS = 3_600_000;

const clusterIdentity = {
  value: 'word',
  pattern: { matches: /^[\x21-\x7e]{1,253}$/, says: 'must be one word of at most 253 characters' },
} as const;
/** Empty in the chart: none. */
const clusterIdentityOfChart = { type: 'string', pattern: '^[!-~]{0,253}$' } as const;

/** Defaults that a leader migration changes. */
export const LEADERSHIP_DEFAULTS = {
  lock: 'redis',
  name: 'rollkeeper',
  takeover: LEADER_ELECTION_DEFAULTS.takeover,
  reconcileOn: 'all',
} as const;

/** The options of one replica, `rollkeeper controller`. */
export const REPLICA_OPTIONS_TABLE = {
  coordination: oneOf(['redis', 'leases', 'local'], {
    help: 'how replicas share their work: by a Redis, where all work; without one, where the holder of a Lease works and the others stand by (leases), or where there is one replica (local)',
    value: 'how',
    default: 'redis',
    chart: { path: 'coordination', schema: { enum: ['redis', 'leases'] } },
  }),
  'redis-url': text({
    ...REDIS_URL_OPTION,
    help: redisUrlHelp('the Redis that all replicas share'),
  }),
  kubeconfig: file({
    help: 'the API to work on',
    shownDefault: "kubectl's rules, down to the pod's service account",
  }),
  context: text({
    help: 'context of the kubeconfig',
    value: 'name',
    notEmpty: 'must name a context',
    shownDefault: "the file's own",
  }),
  'key-prefix': text({
    help: 'keeps installations on one Redis apart',
    value: 'prefix',
    default: 'rollkeeper',
    pattern: { matches: /^[\w.-]+$/, says: 'must be letters, digits, dots, hyphens and underscores' },
    chart: { path: 'redis.keyPrefix', schema: { pattern: '^[A-Za-z0-9_.-]+$' } },
  }),
  'cluster-identity': text({
    ...clusterIdentity,
    help: 'identifies the cluster; the keys in Redis belong to one cluster, and a replica of another one ends with an error',
    shownDefault: 'the UID of its namespace kube-system',
    chart: { path: 'redis.clusterIdentity', default: '', schema: clusterIdentityOfChart },
  }),
  'replaces-cluster': text({
    ...clusterIdentity,
    help: 'the identity of a cluster that is gone, or has become this one: its keys become those of this cluster',
    chart: { path: 'redis.replacesCluster', default: '', schema: clusterIdentityOfChart },
  }),
  identity: text({
    help: "this replica's unique name, in leases, logs and spans",
    value: 'name',
    required: 'is required',
    notEmpty: 'must not be empty',
    maxLength: 253,
    shownDefault: 'host name and process id',
  }),
  namespaces: text({
    help: 'work in these namespaces alone and watch each by itself, so that Roles in them are enough',
    value: 'list',
    shownDefault: 'all',
    chart: {
      path: 'namespaces',
      default: [],
      schema: { type: 'array', items: { type: 'string', minLength: 1 } },
    },
  }),
  selector: text({
    help: 'work on Deployments with such labels alone, for example shard=a, and on everything that they own',
    value: 'labels',
    shownDefault: 'all',
    chart: { path: 'selector', default: '' },
  }),
  'use-service-account-credentials': flag({
    help: 'each controller works as a service account of its own; caches and leases keep using the kubeconfig',
    shownDefault: 'all as the kubeconfig says',
    chart: { path: 'serviceAccount.perController' },
  }),
  'service-account-namespace': text({
    help: 'the namespace of those service accounts',
    value: 'name',
    notEmpty: 'must name a namespace',
    default: 'kube-system',
  }),
  'service-account-prefix': text({
    help: 'goes before their names, such as deployment-controller',
    value: 'text',
    default: '',
    shownDefault: 'none',
  }),
  'kube-api-qps': decimal({
    help: 'requests per second of each controller, in the long run',
    value: 'number',
    least: 0,
    default: 0,
    shownDefault: "0, the server's own limits",
    chart: { path: 'kubeApi.qps' },
  }),
  'kube-api-burst': wholeNumber({
    help: 'requests of each controller at once',
    value: 'count',
    least: 1,
    most: 100_000,
    shownDefault: 'twice as many',
    // 0: the program's default.
    chart: { path: 'kubeApi.burst', default: 0, schema: { minimum: 0 } },
  }),
  controllers: text({
    help: "which controllers run, by kube-controller-manager's names; * for all (without --standalone: deployment, replicaset, garbage-collector, namespace), -name for all but one; the first mention counts; names of what has nothing to do here are passed over",
    value: 'list',
    default: '*',
    chart: { path: 'controllers', default: 'deployment,replicaset', schema: { minLength: 1 } },
  }),
  'deployment-api': text({
    help: 'whose Deployments: apps/v1, rollkeeper.dev/v1 (for clusters whose own controller cannot be switched off), or both',
    value: 'list',
    default: 'apps/v1',
    chart: {
      path: 'deployments.api',
      schema: { enum: ['apps/v1', 'rollkeeper.dev/v1', 'apps/v1,rollkeeper.dev/v1'] },
    },
  }),
  'restart-on-config': onOrOff({
    help: 'watch ConfigMaps and Secrets, and keep digests of them in memory, for Deployments that restart on their configuration (docs/ROLLOUTS.md); needs the rights to list and watch both',
    default: false,
    shownDefault: 'false',
    chart: { path: 'restartOnConfig' },
  }),
  'respect-disruption-budgets': onOrOff({
    help: 'watch PodDisruptionBudgets, and take from them as evictions do, for Deployments whose rollouts respect them (docs/ROLLOUTS.md); needs the rights to list and watch them, and to update their status',
    default: false,
    shownDefault: 'false',
    chart: { path: 'respectDisruptionBudgets' },
  }),
  'max-rollouts': text({
    help: 'how many Deployments roll out at once in the cluster, 0 for any number; either way the limits of Namespaces count (docs/ROLLOUTS.md). off: no limits are kept',
    value: 'number',
    default: 'off',
    pattern: { matches: /^(off|\d{1,6})$/, says: 'must be off, or a number from 0 to 999999' },
    chart: { path: 'maxRollouts', schema: { pattern: '^(off|[0-9]{1,6})$' } },
  }),
  'rollout-checks': onOrOff({
    help: 'measure the checks of rollouts: Prometheus, webhooks and Jobs (docs/ROLLOUTS.md); needs the rights to get ConfigMaps, and to get and create Jobs',
    default: false,
    shownDefault: 'false',
    chart: { path: 'rolloutChecks.enabled' },
  }),
  'check-hosts': text({
    help: 'where requests of checks may go: HOST, HOST:PORT or *.SUFFIX, with commas between; to no other host, and follow no redirects',
    value: 'list',
    default: '',
    shownDefault: 'nowhere',
    chart: { path: 'rolloutChecks.hosts' },
  }),
  'check-signing-key-file': file({
    help: 'the key that requests to webhooks are signed with (HMAC-SHA256, Standard Webhooks); read at each request',
    shownDefault: 'they are not signed',
  }),
  'cloudevents-sink': text({
    help: 'URLs, with commas between, that a CloudEvent is sent to when a rollout is complete, failed, rolled back, or waits for an approval',
    value: 'urls',
    shownDefault: 'nothing is sent',
  }),
  'cloudevents-signing-key-file': file({
    help: 'the key that they are signed with, as requests of checks are',
    shownDefault: 'they are not signed',
  }),
  'blue-green': onOrOff({
    help: 'watch Services, and move their selectors, for Deployments with the strategy blue-green (docs/ROLLOUTS.md); needs the rights to get, list, watch and patch them',
    default: false,
    shownDefault: 'false',
    chart: { path: 'blueGreen' },
  }),
  'eviction-webhook': text({
    help: 'serve the webhook that holds evictions until a Deployment has replaced the pod (docs/ROLLOUTS.md), at the address where the API server reaches it: NAMESPACE/SERVICE or an https URL; needs the rights to patch pods, and to update a Secret and the configuration of the webhook',
    value: 'address',
    shownDefault: 'evictions are left to budgets',
  }),
  'eviction-webhook-port': wholeNumber({
    help: 'the port of that webhook; 0 lets the system choose',
    value: 'port',
    least: 0,
    most: 65_535,
    default: 9443,
    chart: { path: 'evictionWebhook.port', schema: { minimum: 1 } },
  }),
  'eviction-webhook-configuration': text({
    help: 'a ValidatingWebhookConfiguration that is already installed; only its caBundle is updated',
    value: 'name',
    notEmpty: 'must name a configuration',
    shownDefault: 'rollkeeper-evictions, which the replicas create',
  }),
  'eviction-webhook-tls-cert-file': file({
    help: 'the certificate of that webhook, PEM; read again when it changes; the caBundle is then not updated',
    shownDefault: 'self-signed, kept in a Secret with the name of the configuration and -tls',
  }),
  'eviction-webhook-tls-private-key-file': file({ help: 'its private key, PEM' }),
  zones: onOrOff({
    help: 'watch the labels of nodes, for Deployments that are rolled out zone by zone (docs/ROLLOUTS.md); needs the rights to list and watch nodes',
    default: false,
    shownDefault: 'false',
    chart: { path: 'zones' },
  }),
  'lasting-history': onOrOff({
    help: 'keep the history of Deployments that ask for it for so many days, each in a ConfigMap of its namespace (docs/ROLLOUTS.md); needs the rights to get, create and update ConfigMaps, and to get Deployments',
    default: false,
    shownDefault: 'false',
    chart: { path: 'lastingHistory' },
  }),
  problems: oneOf(['none', 'deployments', 'all'], {
    help: 'what the leader looks at for problems, each of which becomes an Event on its object and counts in a metric (docs/SITUATIONS.md): none; Deployments, from its caches; or all kinds, which needs the rights to list them',
    value: 'what',
    shownDefault: 'all with --standalone, otherwise deployments',
    chart: { path: 'problems.lookAt', default: 'deployments' },
  }),
  'problems-interval-ms': milliseconds({
    help: 'how often it looks; less often where a look takes longer than a tenth of this',
    least: 1000,
    default: 30_000,
    chart: { path: 'problems.intervalMs' },
  }),
  standalone: flag({
    help: 'no kube-controller-manager works beside: * stands for all controllers there are, those of Services, budgets, nodes, quotas and the like too (docs/CONTROLLERS.md)',
  }),
  'cluster-signing-cert-file': file({
    help: 'the authority that signs approved CertificateSigningRequests, PEM; read at each signature',
    shownDefault: 'nothing is signed',
  }),
  'cluster-signing-key-file': file({ help: 'its private key, PEM' }),
  workers: text({
    help: 'keys worked on at once, for example deployment=5,replicaset=10',
    value: 'list',
    chart: {
      path: 'workers',
      default: '',
      schema: { pattern: '^([a-z-]+=[0-9]+(,[a-z-]+=[0-9]+)*)?$' },
    },
  }),
  'admin-host': text({
    help: 'the address of the admin port, which serves health, metrics, status and the console',
    value: 'address',
    notEmpty: 'must name an address',
    default: '127.0.0.1',
  }),
  'admin-port': wholeNumber({
    help: 'the number of that port; 0 lets the system choose',
    value: 'port',
    least: 0,
    most: 65_535,
    default: 0,
    chart: { path: 'admin.port', default: 8080, schema: { minimum: 1 } },
  }),
  'recent-traces': wholeNumber({
    help: 'traces kept in memory for the console',
    value: 'count',
    least: 0,
    most: 100_000,
    default: 0,
    shownDefault: '0, none',
  }),
  'admin-token-file': file({
    help: 'holds the token with which people change things, and read from other machines',
    shownDefault: 'no token: nothing can be changed',
  }),
  'admin-auth': oneOf(['token', 'delegated'], {
    help: 'token: that token alone; delegated: the API is asked about others, by TokenReview and SubjectAccessReview',
    value: 'how',
    default: 'token',
    chart: { path: 'admin.auth' },
  }),
  'admin-tls-cert-file': file({
    help: 'serve the admin port over TLS with this certificate, PEM; read again when it changes',
    shownDefault: 'self-made where they can be reached from elsewhere',
  }),
  'admin-tls-private-key-file': file({ help: 'its private key, PEM' }),
  'admin-insecure-http': flag({
    help: 'serve the admin port over plain HTTP even where it can be reached from elsewhere',
  }),
  'admin-local-reads': oneOf(LOCAL_READS, {
    help: 'which users of this machine may read without a token: anyone, own-user (and root; Linux only), or none (token)',
    value: 'how',
    default: 'anyone',
    chart: { path: 'admin.localReads' },
  }),
  'admin-open-metrics': flag({
    help: 'let everybody who reaches the port read /metrics',
    shownDefault: 'read like anything else',
    chart: { path: 'admin.openMetrics' },
  }),
  'console-url': text({
    help: 'where people reach the console, for example https://rollkeeper.example.com: Events of problems and command lines link there, and identity providers send browsers back there',
    value: 'url',
    shownDefault: 'no links',
    chart: { path: 'admin.consoleUrl', default: '' },
  }),
  'console-clusters': text({
    help: 'the consoles of all your clusters, as name=url with commas between, for example eu=https://rollkeeper.eu.example.com: the console has a menu of them, and a page of what is wrong in all; may name this one too',
    value: 'list',
    shownDefault: 'none',
    chart: {
      path: 'admin.clusters.list',
      default: [],
      schema: { type: 'array', items: { type: 'string', minLength: 1 } },
    },
  }),
  'console-clusters-ca-file': file({
    help: 'the authority of the certificates of those consoles, PEM; read at the first request',
    shownDefault: 'those that Node.js trusts',
  }),
  'oidc-issuer-url': text({
    help: 'sign people in to the console by this OpenID Connect provider (docs/CONSOLE.md); needs oidc-client-id, console-url and admin-auth=delegated. These options mean what they mean to kube-apiserver',
    value: 'url',
    notEmpty: 'must be a URL',
    shownDefault: 'none',
    chart: { path: 'admin.oidc.issuerUrl', default: '' },
  }),
  'oidc-client-id': text({
    help: 'the client that the console is to the provider, with console-url/console/signed-in as the address to come back to',
    value: 'id',
    notEmpty: 'must not be empty',
    chart: { path: 'admin.oidc.clientId', default: '' },
  }),
  'oidc-client-secret-file': file({
    help: 'holds the secret of that client; read at each sign-in',
    shownDefault: 'a public client, with PKCE alone',
  }),
  'oidc-ca-file': file({
    help: "the authority of the provider's certificate, PEM; read at the first sign-in",
    shownDefault: 'those that Node.js trusts',
  }),
  'oidc-scopes': text({
    help: 'what is asked for beside openid, with commas between: for example groups, or offline_access, where sessions are to outlast an ID token',
    value: 'list',
    default: '',
    shownDefault: 'openid alone',
    chart: { path: 'admin.oidc.scopes' },
  }),
  'oidc-username-claim': text({
    help: 'the claim of the ID token that names the user',
    value: 'claim',
    notEmpty: 'must name a claim',
    default: 'sub',
    chart: { path: 'admin.oidc.usernameClaim', schema: { minLength: 1 } },
  }),
  'oidc-username-prefix': text({
    help: 'goes before the names of users; - for none',
    value: 'text',
    shownDefault: 'the issuer and #, and none for the claim email',
    chart: { path: 'admin.oidc.usernamePrefix', default: '' },
  }),
  'oidc-groups-claim': text({
    help: "the claim that lists the user's groups",
    value: 'claim',
    notEmpty: 'must name a claim',
    shownDefault: 'users have no groups',
    chart: { path: 'admin.oidc.groupsClaim', default: '' },
  }),
  'oidc-groups-prefix': text({
    help: 'goes before the names of groups',
    value: 'text',
    shownDefault: 'none',
    chart: { path: 'admin.oidc.groupsPrefix', default: '' },
  }),
  'oidc-rights': oneOf(OIDC_RIGHTS, {
    help: 'token: the ID token goes to the API server, which has to trust the same provider and client; impersonate: this replica asks the API server in the name of the user and groups, for which it needs the right to impersonate them',
    value: 'how',
    default: 'token',
    chart: { path: 'admin.oidc.rights' },
  }),
  'lease-duration-ms': milliseconds({
    help: 'leader lease',
    default: LEADER_ELECTION_DEFAULTS.leaseDurationMs,
    chart: { path: 'leaderElection.leaseDurationMs' },
  }),
  'renew-deadline-ms': milliseconds({
    help: 'the leader gives up after so long without a renewal',
    default: LEADER_ELECTION_DEFAULTS.renewDeadlineMs,
    chart: { path: 'leaderElection.renewDeadlineMs' },
  }),
  'retry-period-ms': milliseconds({
    help: 'between attempts to acquire or renew the lease',
    default: LEADER_ELECTION_DEFAULTS.retryPeriodMs,
    chart: { path: 'leaderElection.retryPeriodMs' },
  }),
  'leader-takeover': oneOf(['witness', 'expiry'], {
    help: 'witness: as soon as Redis sees that the leader is gone; expiry: at the end of its lease',
    value: 'when',
    shownDefault: LEADERSHIP_DEFAULTS.takeover,
    chart: { path: 'leaderElection.takeover', default: LEADERSHIP_DEFAULTS.takeover },
  }),
  'leader-takeover-grace-ms': milliseconds({
    help: 'how long its connections must have been gone',
    least: 0,
    default: LEADER_ELECTION_DEFAULTS.witnessGraceMs,
    chart: { path: 'leaderElection.takeoverGraceMs' },
  }),
  'leader-health-tolerance-ms': milliseconds({
    help: 'leading work that goes on for so long after the lease ended fails /livez',
    least: 0,
    default: LEADER_ELECTION_DEFAULTS.healthToleranceMs,
    chart: { path: 'leaderElection.healthToleranceMs' },
  }),
  'leader-elect': onOrOff({
    help: 'false: this replica leads without being elected; for installations of one replica',
    default: true,
  }),
  'leader-elect-resource-lock': oneOf(['redis', 'leases'], {
    help: 'where the lease is: redis or leases',
    value: 'kind',
    shownDefault: LEADERSHIP_DEFAULTS.lock,
    chart: { path: 'leaderElection.resourceLock', default: LEADERSHIP_DEFAULTS.lock },
  }),
  'leader-elect-resource-namespace': text({
    help: "the Lease's namespace; events about the leadership are about that Lease with both locks",
    value: 'name',
    notEmpty: 'must name a namespace',
    default: 'kube-system',
  }),
  'leader-elect-resource-name': text({
    help: "the Lease's name",
    value: 'name',
    notEmpty: 'must name a Lease',
    shownDefault: LEADERSHIP_DEFAULTS.name,
  }),
  'leader-elect-coordinated': flag({
    help: "stand for the Lease by a LeaseCandidate: the API server's coordinator gives it to the oldest release",
    chart: { path: 'leaderElection.coordinated' },
  }),
  'leader-migration-config': file({
    help: 'a LeaderMigrationConfiguration: what runs here while controllers go over from or to another manager',
  }),
  'reconcile-on': oneOf(['all', 'leader'], {
    help: 'all: every replica works on keys; leader: only that one',
    value: 'who',
    shownDefault: LEADERSHIP_DEFAULTS.reconcileOn,
    chart: { path: 'reconcileOn', default: LEADERSHIP_DEFAULTS.reconcileOn },
  }),
  'drain-timeout-ms': milliseconds({
    help: 'how long running keys may go on after a stop, an hour at most; then others take them',
    most: LONGEST_DRAIN_MS,
    default: DEFAULT_DRAIN_TIMEOUT_MS,
    chart: { path: 'drainTimeoutMs' },
  }),
  'spread-after-ms': milliseconds({
    help: 'how long replicas that do not lead leave a key to the leader; 0: all take keys at once',
    least: 0,
    default: DEFAULT_SPREAD_AFTER_MS,
    chart: { path: 'spreadAfterMs' },
  }),
  'caught-up-timeout-ms': milliseconds({
    help: 'how long a sync waits for its caches',
    default: DEFAULT_CAUGHT_UP_TIMEOUT_MS,
  }),
  'sync-timeout-ms': text({
    help: 'how long a sync may take before it is aborted and tried again, for example 60000,namespace=300000',
    value: 'list',
    shownDefault: `${DEFAULT_SYNC_TIMEOUT_MS}, namespace 600000`,
    chart: { path: 'syncTimeoutMs', default: '', schema: { type: ['string', 'integer'] } },
  }),
  'log-level': oneOf(LOG_LEVELS, {
    help: 'debug, info, warn or error',
    value: 'level',
    default: 'info',
    chart: { path: 'logLevel' },
  }),
  'log-format': oneOf(['json', 'pretty'], {
    help: 'json or pretty',
    value: 'format',
    default: 'json',
  }),
};

/** The options of a replica, as values or as typed. */
export type ReplicaOptions = GivenOptions<typeof REPLICA_OPTIONS_TABLE>;

/** Each validated separately, with its default. */
export type CheckedReplicaOptions = CompiledTable<typeof REPLICA_OPTIONS_TABLE>;

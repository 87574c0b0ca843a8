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
  MOST_SLOTS,
} from '@rollkeeper/runtime/defaults';
import { LOCAL_READS } from '../admin/server/decide-access.js';
import { OIDC_RIGHTS } from '../admin/oidc/oidc-options.js';
import { REDIS_URL_OPTION, redisUrlHelp } from '../terminal/redis-url-option.js';

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
    help: 'how replicas coordinate. redis: all share the work over Redis; leases: without Redis, only the holder of a Lease works; local: without Redis, one replica',
    value: 'how',
    default: 'redis',
    chart: { path: 'coordination', schema: { enum: ['redis', 'leases'] } },
  }),
  'redis-url': text({
    ...REDIS_URL_OPTION,
    help: redisUrlHelp('the Redis that all replicas share'),
  }),
  kubeconfig: file({
    help: 'the cluster to use',
    shownDefault: "kubectl's rules, then the pod's service account",
  }),
  context: text({
    help: 'context of the kubeconfig',
    value: 'name',
    notEmpty: 'must name a context',
    shownDefault: 'the current one',
  }),
  'key-prefix': text({
    help: 'prefix of keys in Redis, one per installation',
    value: 'prefix',
    default: 'rollkeeper',
    pattern: { matches: /^[\w.-]+$/, says: 'must be letters, digits, dots, hyphens and underscores' },
    chart: { path: 'redis.keyPrefix', schema: { pattern: '^[A-Za-z0-9_.-]+$' } },
  }),
  'cluster-identity': text({
    ...clusterIdentity,
    help: 'identity of the cluster; the keys in Redis belong to one cluster, and a replica of another one exits with an error',
    shownDefault: 'the UID of its kube-system namespace',
    chart: { path: 'redis.clusterIdentity', default: '', schema: clusterIdentityOfChart },
  }),
  'replaces-cluster': text({
    ...clusterIdentity,
    help: 'identity of a cluster that no longer exists, or that became this one; this cluster takes over its keys',
    chart: { path: 'redis.replacesCluster', default: '', schema: clusterIdentityOfChart },
  }),
  identity: text({
    help: 'unique name of this replica in leases, logs and spans',
    value: 'name',
    required: 'is required',
    notEmpty: 'must not be empty',
    maxLength: 253,
    shownDefault: 'host name and process id',
  }),
  namespaces: text({
    help: 'reconcile only these namespaces, and watch each separately; Roles in them are sufficient',
    value: 'list',
    shownDefault: 'all',
    chart: {
      path: 'namespaces',
      default: [],
      schema: { type: 'array', items: { type: 'string', minLength: 1 } },
    },
  }),
  selector: text({
    help: 'reconcile only Deployments with these labels, for example shard=a, and their dependents',
    value: 'labels',
    shownDefault: 'all',
    chart: { path: 'selector', default: '' },
  }),
  'use-service-account-credentials': flag({
    help: 'each controller uses its own service account; caches and leases still use the kubeconfig',
    shownDefault: 'all use the kubeconfig',
    chart: { path: 'serviceAccount.perController' },
  }),
  'service-account-namespace': text({
    help: 'namespace of those service accounts',
    value: 'name',
    notEmpty: 'must name a namespace',
    default: 'kube-system',
  }),
  'service-account-prefix': text({
    help: 'prefix of names such as deployment-controller',
    value: 'text',
    default: '',
    shownDefault: 'none',
  }),
  'kube-api-qps': decimal({
    help: 'sustained requests per second of each controller',
    value: 'number',
    least: 0,
    default: 0,
    shownDefault: "0, only the server's limits",
    chart: { path: 'kubeApi.qps' },
  }),
  'kube-api-burst': wholeNumber({
    help: 'burst of requests of each controller',
    value: 'count',
    least: 1,
    most: 100_000,
    shownDefault: 'twice the qps',
    // 0: the program's default.
    chart: { path: 'kubeApi.burst', default: 0, schema: { minimum: 0 } },
  }),
  controllers: text({
    help: "controllers to run, by kube-controller-manager's names; * for all (without --standalone: deployment, replicaset, garbage-collector, namespace), -name to exclude one; the first mention counts; controllers that do not exist here are ignored",
    value: 'list',
    default: '*',
    chart: { path: 'controllers', default: 'deployment,replicaset', schema: { minLength: 1 } },
  }),
  'deployment-api': text({
    help: 'which Deployments to reconcile: apps/v1, rollkeeper.dev/v1 (if the built-in controller cannot be disabled), or both',
    value: 'list',
    default: 'apps/v1',
    chart: {
      path: 'deployments.api',
      schema: { enum: ['apps/v1', 'rollkeeper.dev/v1', 'apps/v1,rollkeeper.dev/v1'] },
    },
  }),
  'restart-on-config': onOrOff({
    help: 'watch ConfigMaps and Secrets, and keep their digests in memory, for Deployments that restart when their configuration changes (docs/ROLLOUTS.md); needs list and watch on both',
    default: false,
    shownDefault: 'false',
    chart: { path: 'restartOnConfig' },
  }),
  'pin-config': onOrOff({
    help: 'copy ConfigMaps and Secrets for Deployments whose versions read copies of them (docs/ROLLOUTS.md); watches both as --restart-on-config does; needs list, watch, get and create on both',
    default: false,
    shownDefault: 'false',
    chart: { path: 'pinConfig' },
  }),
  'respect-disruption-budgets': onOrOff({
    help: 'watch PodDisruptionBudgets, and consume them as evictions do, for Deployments with rollouts that respect them (docs/ROLLOUTS.md); needs list and watch on them, and update on their status',
    default: false,
    shownDefault: 'false',
    chart: { path: 'respectDisruptionBudgets' },
  }),
  'max-rollouts': text({
    help: 'maximum number of concurrent rollouts in the cluster, 0 for no maximum; the limits of Namespaces apply as well (docs/ROLLOUTS.md). off: no limits apply',
    value: 'number',
    default: 'off',
    pattern: { matches: /^(off|\d{1,6})$/, says: 'must be off, or a number from 0 to 999999' },
    chart: { path: 'maxRollouts', schema: { pattern: '^(off|[0-9]{1,6})$' } },
  }),
  'rollout-checks': onOrOff({
    help: 'run the checks of rollouts: metrics, webhooks and Jobs (docs/ROLLOUTS.md); needs get on ConfigMaps, and get and create on Jobs',
    default: false,
    shownDefault: 'false',
    chart: { path: 'rolloutChecks.enabled' },
  }),
  'check-hosts': text({
    help: 'the only hosts that checks may send requests to, comma-separated: HOST, HOST:PORT or *.SUFFIX; redirects are not followed',
    value: 'list',
    default: '',
    shownDefault: 'none',
    chart: { path: 'rolloutChecks.hosts' },
  }),
  'check-secrets': onOrOff({
    help: 'send values of Secrets with requests of checks, to the hosts that an annotation of the Secret allows (docs/ROLLOUTS.md); needs get on Secrets',
    default: false,
    shownDefault: 'false',
    chart: { path: 'rolloutChecks.secrets' },
  }),
  'check-signing-key-file': file({
    help: 'key that signs requests to webhooks (HMAC-SHA256, Standard Webhooks); read for each request',
    shownDefault: 'requests are not signed',
  }),
  'cloudevents-sink': text({
    help: 'comma-separated URLs that receive a CloudEvent when a rollout completes, fails, is rolled back, or waits for an approval',
    value: 'urls',
    shownDefault: 'no events are sent',
  }),
  'cloudevents-signing-key-file': file({
    help: 'key that signs the CloudEvents, like the requests of checks',
    shownDefault: 'events are not signed',
  }),
  'notification-hosts': text({
    help: 'the only hosts that notifications of rollouts may be sent to, comma-separated: HOST, HOST:PORT or *.SUFFIX (docs/NOTIFICATIONS.md); needs get on Secrets, of which each says itself that it is a channel',
    value: 'list',
    default: '',
    shownDefault: 'none, so it sends no notifications',
    chart: { path: 'notifications.hosts' },
  }),
  'blue-green': onOrOff({
    help: 'watch Services, and switch their selectors, for Deployments with the strategy blue-green (docs/ROLLOUTS.md); needs get, list, watch and patch on Services',
    default: false,
    shownDefault: 'false',
    chart: { path: 'blueGreen' },
  }),
  traffic: onOrOff({
    help: 'watch HTTPRoutes, GRPCRoutes and Services, and write weights and selectors, for Deployments with rollkeeper.dev/traffic (docs/ROLLOUTS.md); needs list, watch and patch on the routes, get, list, watch, create and patch on Services, and list on EndpointSlices',
    default: false,
    shownDefault: 'false',
    chart: { path: 'traffic' },
  }),
  'experiment-services': onOrOff({
    help: 'watch Services, and make those of experiments whose steps have "services" (docs/ROLLOUTS.md); needs get, list, watch and create on Services',
    default: false,
    shownDefault: 'false',
    chart: { path: 'experimentServices' },
  }),
  'eviction-webhook': text({
    help: 'serve the webhook that holds evictions until a Deployment has replaced the pod (docs/ROLLOUTS.md). The API server reaches it at NAMESPACE/SERVICE or an https URL; needs patch on pods, and update on a Secret and the configuration of the webhook',
    value: 'address',
    shownDefault: 'only budgets limit evictions',
  }),
  'eviction-webhook-port': wholeNumber({
    help: 'port of that webhook; 0 lets the system choose',
    value: 'port',
    least: 0,
    most: 65_535,
    default: 9443,
    chart: { path: 'evictionWebhook.port', schema: { minimum: 1 } },
  }),
  'eviction-webhook-configuration': text({
    help: 'name of an installed ValidatingWebhookConfiguration; only its caBundle is updated',
    value: 'name',
    notEmpty: 'must name a configuration',
    shownDefault: 'rollkeeper-evictions, created by the replicas',
  }),
  'eviction-webhook-tls-cert-file': file({
    help: 'certificate of that webhook, PEM; reloaded when it changes; the caBundle is then not updated',
    shownDefault: 'self-signed, in a Secret with the name of the configuration and -tls',
  }),
  'eviction-webhook-tls-private-key-file': file({ help: 'its private key, PEM' }),
  zones: onOrOff({
    help: 'watch the labels of nodes, for Deployments that roll out zone by zone (docs/ROLLOUTS.md); needs list and watch on nodes',
    default: false,
    shownDefault: 'false',
    chart: { path: 'zones' },
  }),
  'drain-sessions': onOrOff({
    help: 'let pods of old versions run outside of their Services until they have no session left, for Deployments that request it (docs/ROLLOUTS.md). Probes go to the addresses of these pods; needs get, patch and delete on pods',
    default: false,
    shownDefault: 'false',
    chart: { path: 'drainSessions' },
  }),
  'eviction-requests': onOrOff({
    help: 'a preview: Deployments with on-eviction respond to evictions by request (KEP-4563, docs/ROLLOUTS.md), which the API server must serve; with --standalone, the other controllers of that run as well. Needs get, list and watch on evictions, patch on evictions/status, and get and patch on pods',
    default: false,
    shownDefault: 'false',
    chart: { path: 'evictionRequests' },
  }),
  'stateful-sets': onOrOff({
    help: 'roll out StatefulSets by the policies that they ask for, beside their own controller (docs/ROLLOUTS.md); needs get, list, watch, update and patch on StatefulSets and ControllerRevisions, and delete on pods',
    default: false,
    shownDefault: 'false',
    chart: { path: 'statefulSets' },
  }),
  'daemon-sets': onOrOff({
    help: 'roll out DaemonSets by the policies that they ask for, beside their own controller (docs/ROLLOUTS.md); needs get, list, watch, update and patch on DaemonSets and ControllerRevisions, delete on pods, and list and watch on nodes',
    default: false,
    shownDefault: 'false',
    chart: { path: 'daemonSets' },
  }),
  'watch-admission': onOrOff({
    help: 'compare the pods of Deployments with what mutating webhooks give new ones, by creations on trial, show where they differ, and restart those that request it (docs/ROLLOUTS.md); needs list and watch on MutatingWebhookConfigurations, create on pods, and patch on Deployments',
    default: false,
    shownDefault: 'false',
    chart: { path: 'watchAdmission' },
  }),
  'lasting-history': onOrOff({
    help: 'keep the history of Deployments for as many days as they request, each in a ConfigMap of its namespace (docs/ROLLOUTS.md); needs get, create and update on ConfigMaps, and get on Deployments',
    default: false,
    shownDefault: 'false',
    chart: { path: 'lastingHistory' },
  }),
  problems: oneOf(['none', 'deployments', 'all'], {
    help: 'what the leader checks for problems: none, Deployments (from its caches), or all kinds (needs list on them). Each problem becomes an Event on its object and counts in a metric (docs/SITUATIONS.md)',
    value: 'what',
    shownDefault: 'all with --standalone, otherwise deployments',
    chart: { path: 'problems.lookAt', default: 'deployments' },
  }),
  'problems-interval-ms': milliseconds({
    help: 'interval of those checks; longer if a check takes more than a tenth of it',
    least: 1000,
    default: 30_000,
    chart: { path: 'problems.intervalMs' },
  }),
  standalone: flag({
    help: 'run without kube-controller-manager: * then means all controllers, including those of Services, budgets, nodes and quotas (docs/CONTROLLERS.md)',
  }),
  'cluster-signing-cert-file': file({
    help: 'authority that signs approved CertificateSigningRequests, PEM; read for each signature',
    shownDefault: 'nothing is signed',
  }),
  'cluster-signing-key-file': file({ help: 'its private key, PEM' }),
  workers: text({
    help: 'keys processed at once, for example deployment=5,replicaset=10',
    value: 'list',
    chart: {
      path: 'workers',
      default: '',
      schema: { pattern: '^([a-z-]+=[0-9]+(,[a-z-]+=[0-9]+)*)?$' },
    },
  }),
  'admin-host': text({
    help: 'address of the admin port (health, metrics, status and the console)',
    value: 'address',
    notEmpty: 'must name an address',
    default: '127.0.0.1',
  }),
  'admin-port': wholeNumber({
    help: 'number of the admin port; 0 lets the system choose',
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
    help: 'file with the token that allows changes, and reads from other machines',
    shownDefault: 'no token: nothing can be changed',
  }),
  'admin-auth': oneOf(['token', 'delegated'], {
    help: 'token: only that token; delegated: also tokens that the API accepts, by TokenReview and SubjectAccessReview',
    value: 'how',
    default: 'token',
    chart: { path: 'admin.auth' },
  }),
  'admin-tls-cert-file': file({
    help: 'serve the admin port over TLS with this certificate, PEM; reloaded when it changes',
    shownDefault: 'self-signed if other machines can reach the port',
  }),
  'admin-tls-private-key-file': file({ help: 'its private key, PEM' }),
  'admin-insecure-http': flag({
    help: 'serve the admin port over plain HTTP even if other machines can reach it',
  }),
  'admin-local-reads': oneOf(LOCAL_READS, {
    help: 'which local users may read without a token: anyone, own-user (and root; Linux only), or none (token)',
    value: 'how',
    default: 'anyone',
    chart: { path: 'admin.localReads' },
  }),
  'admin-open-metrics': flag({
    help: 'serve /metrics without authorization',
    shownDefault: 'authorized like other pages',
    chart: { path: 'admin.openMetrics' },
  }),
  'console-url': text({
    help: 'external URL of the console, for example https://rollkeeper.example.com; Events of problems and the command line link to it, and identity providers redirect to it',
    value: 'url',
    shownDefault: 'no links',
    chart: { path: 'admin.consoleUrl', default: '' },
  }),
  'console-clusters': text({
    help: 'consoles of all your clusters, as comma-separated name=url, for example eu=https://rollkeeper.eu.example.com; the console shows a menu of them, and a page of the problems in all; may include this cluster',
    value: 'list',
    shownDefault: 'none',
    chart: {
      path: 'admin.clusters.list',
      default: [],
      schema: { type: 'array', items: { type: 'string', minLength: 1 } },
    },
  }),
  'console-clusters-ca-file': file({
    help: 'certificate authority of those consoles, PEM; read at the first request',
    shownDefault: 'the authorities that Node.js trusts',
  }),
  'oidc-issuer-url': text({
    help: 'sign users in to the console with this OpenID Connect provider (docs/CONSOLE.md); needs oidc-client-id, console-url and admin-auth=delegated. The oidc options mean the same as in kube-apiserver',
    value: 'url',
    notEmpty: 'must be a URL',
    shownDefault: 'none',
    chart: { path: 'admin.oidc.issuerUrl', default: '' },
  }),
  'oidc-client-id': text({
    help: 'client ID of the console at the provider; the redirect URI is console-url/console/signed-in',
    value: 'id',
    notEmpty: 'must not be empty',
    chart: { path: 'admin.oidc.clientId', default: '' },
  }),
  'oidc-client-secret-file': file({
    help: 'secret of that client; read at each sign-in',
    shownDefault: 'a public client, with only PKCE',
  }),
  'oidc-ca-file': file({
    help: 'certificate authority of the provider, PEM; read at the first sign-in',
    shownDefault: 'the authorities that Node.js trusts',
  }),
  'oidc-scopes': text({
    help: 'comma-separated scopes to request besides openid, for example groups, or offline_access if sessions should outlast an ID token',
    value: 'list',
    default: '',
    shownDefault: 'only openid',
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
    help: 'prefix of user names; - for none',
    value: 'text',
    shownDefault: 'the issuer and #; none for the claim email',
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
    help: 'prefix of group names',
    value: 'text',
    shownDefault: 'none',
    chart: { path: 'admin.oidc.groupsPrefix', default: '' },
  }),
  'oidc-rights': oneOf(OIDC_RIGHTS, {
    help: 'token: send the ID token to the API server, which must trust the same provider and client; impersonate: this replica impersonates the user and groups, and needs the right to do so',
    value: 'how',
    default: 'token',
    chart: { path: 'admin.oidc.rights' },
  }),
  'lease-duration-ms': milliseconds({
    help: 'duration of the lease',
    default: LEADER_ELECTION_DEFAULTS.leaseDurationMs,
    chart: { path: 'leaderElection.leaseDurationMs' },
  }),
  'renew-deadline-ms': milliseconds({
    help: 'the leader steps down after this time without a renewal',
    default: LEADER_ELECTION_DEFAULTS.renewDeadlineMs,
    chart: { path: 'leaderElection.renewDeadlineMs' },
  }),
  'retry-period-ms': milliseconds({
    help: 'interval of attempts to acquire or renew the lease',
    default: LEADER_ELECTION_DEFAULTS.retryPeriodMs,
    chart: { path: 'leaderElection.retryPeriodMs' },
  }),
  'leader-takeover': oneOf(['witness', 'expiry'], {
    help: 'witness: once Redis sees that the leader is disconnected; expiry: once its lease expires',
    value: 'when',
    shownDefault: LEADERSHIP_DEFAULTS.takeover,
    chart: { path: 'leaderElection.takeover', default: LEADERSHIP_DEFAULTS.takeover },
  }),
  'leader-takeover-grace-ms': milliseconds({
    help: 'how long its connections must have been closed',
    least: 0,
    default: LEADER_ELECTION_DEFAULTS.witnessGraceMs,
    chart: { path: 'leaderElection.takeoverGraceMs' },
  }),
  'leader-health-tolerance-ms': milliseconds({
    help: 'fail /livez if leader work continues this long after the lease ended',
    least: 0,
    default: LEADER_ELECTION_DEFAULTS.healthToleranceMs,
    chart: { path: 'leaderElection.healthToleranceMs' },
  }),
  'leader-elect': onOrOff({
    help: 'false: this replica leads without an election; for installations with one replica',
    default: true,
  }),
  'leader-elect-resource-lock': oneOf(['redis', 'leases'], {
    help: 'store of the lease: redis or leases',
    value: 'kind',
    shownDefault: LEADERSHIP_DEFAULTS.lock,
    chart: { path: 'leaderElection.resourceLock', default: LEADERSHIP_DEFAULTS.lock },
  }),
  'leader-elect-resource-namespace': text({
    help: 'namespace of the Lease; with both locks, Events about the leadership refer to that Lease',
    value: 'name',
    notEmpty: 'must name a namespace',
    default: 'kube-system',
  }),
  'leader-elect-resource-name': text({
    help: 'name of the Lease',
    value: 'name',
    notEmpty: 'must name a Lease',
    shownDefault: LEADERSHIP_DEFAULTS.name,
  }),
  'leader-elect-coordinated': flag({
    help: "let the API server's coordinator assign the Lease to the oldest release, by LeaseCandidates",
    chart: { path: 'leaderElection.coordinated' },
  }),
  'leader-migration-config': file({
    help: 'file with a LeaderMigrationConfiguration, to migrate controllers from or to another manager',
  }),
  'reconcile-on': oneOf(['all', 'leader'], {
    help: 'all: every replica processes keys; leader: only the leader',
    value: 'who',
    shownDefault: LEADERSHIP_DEFAULTS.reconcileOn,
    chart: { path: 'reconcileOn', default: LEADERSHIP_DEFAULTS.reconcileOn },
  }),
  'drain-timeout-ms': milliseconds({
    help: 'how long running keys may continue after a stop, at most an hour; then they are handed over',
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
  slots: wholeNumber({
    help: 'spread namespaces over so many slots: each replica watches and caches those of some, and works on them alone (docs/SCALE.md); the same on all replicas. 0: every replica watches everything',
    value: 'count',
    least: 0,
    most: MOST_SLOTS,
    default: 0,
    chart: { path: 'slots' },
  }),
  'caught-up-timeout-ms': milliseconds({
    help: 'how long a sync waits for its caches',
    default: DEFAULT_CAUGHT_UP_TIMEOUT_MS,
  }),
  'sync-timeout-ms': text({
    help: 'timeout of a sync, which is then aborted and retried, for example 60000,namespace=300000',
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

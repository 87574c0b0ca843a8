import type { AdminPorts, DeploymentCaches, LeaseView, StatusSource } from '../admin/index.js';
import type { Clock } from '../../base/clock/index.js';
import type { AccessJudge } from '../delegated-access/index.js';
import type { DecisionLog, RunningSyncs } from '../explain/index.js';
import type { Informer, InformerFactory } from '../../kit/informer/index.js';
import type {
  Deployment,
  KubernetesObject,
  Namespace,
  Pod,
  ReplicaSet,
  ResourceType,
} from '../../base/kubernetes/index.js';
import {
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  REPLICA_SETS,
  qualifiedResource,
} from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import { getLogLevel, redactText, setLogLevel } from '../../base/logging/index.js';
import { describeRedis } from '../../base/redis/index.js';
import type { ManagedController } from '../../kit/manager/index.js';
import type { ServedCertificate } from '../../base/tls/index.js';
import type { RedisPeerRegistry } from './redis-peer-registry.js';
import type { ReplicaElector } from './replica-elector.js';
import type { CompiledReplicaOptions } from './replica.options.js';

export interface AdminPortParts {
  readonly options: CompiledReplicaOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly token: string | null;
  readonly delegated: AccessJudge | null;
  readonly certificate: ServedCertificate | null;
  readonly status: StatusSource;
  readonly controllers: readonly ManagedController[];
  readonly informers: InformerFactory;
  readonly elector: ReplicaElector;
  readonly decisions: DecisionLog;
  readonly running: RunningSyncs;
  readonly peers: RedisPeerRegistry;
  readonly traces: AdminPorts['traces'];
}

/** This replica as the admin API sees it. */
export function createAdminPorts(parts: AdminPortParts): AdminPorts {
  const { clock, controllers, decisions, elector, informers, logger, options, peers, running, status } =
    parts;
  return {
    identity: options.identity,
    startedAtMs: clock.now(),
    clock,
    logger,
    token: parts.token ?? undefined,
    delegated: parts.delegated ?? undefined,
    certificate: parts.certificate ?? undefined,
    openMetrics: options['admin-open-metrics'],
    status,
    config: () => withoutSecrets(options),
    logLevel: { get: getLogLevel, set: setLogLevel },
    queues: new Map(controllers.map(({ controller }) => [controller.name, controller.queue])),
    caches: () => cachesOf(informers),
    decisions,
    running,
    traces: parts.traces,
    lease: () => readLease(elector, clock),
    peers,
  };
}

function cachesOf(informers: InformerFactory): DeploymentCaches | undefined {
  const find = <T extends KubernetesObject>(type: ResourceType): Informer<T> | undefined =>
    informers.all().find((informer) => qualifiedResource(informer.type) === qualifiedResource(type)) as
      Informer<T> | undefined;
  const [deployments, replicaSets, pods] = [
    find<Deployment>(DEPLOYMENTS),
    find<ReplicaSet>(REPLICA_SETS),
    find<Pod>(PODS),
  ];
  const namespaces = find<Namespace>(NAMESPACES);
  return deployments && replicaSets && pods ? { deployments, replicaSets, pods, namespaces } : undefined;
}

/** The store's clock says when it was renewed, ours how long ago that was: right as far as the two agree. */
async function readLease(elector: ReplicaElector, clock: Clock): Promise<LeaseView | undefined> {
  const record = await elector.lease();
  if (!record) return undefined;
  const durationMs = record.leaseDurationSeconds * 1000;
  const renewedAtMs = Date.parse(record.renewTime);
  return {
    // The lease's identity is the replica's and an id of this life of it.
    holder: record.holderIdentity.replace(/_[^_]*$/, ''),
    epoch: record.leaderTransitions,
    durationMs,
    renewedAtMs,
    remainingMs: Math.min(durationMs, Math.max(0, renewedAtMs + durationMs - clock.now())),
  };
}

const HIDDEN = '(hidden)';
const SECRET = /token|password|secret|kubeconfig|private-key/i;

/** Passwords in URLs and names of secret files are nobody's business. */
export function withoutSecrets({
  adminTls,
  definitions,
  'redis-url': redisUrl,
  scope,
  syncTimeoutMsOf,
  workersOf,
  ...options
}: CompiledReplicaOptions): Record<string, unknown> {
  const shown = Object.entries(options).map(([name, value]) => {
    if (SECRET.test(name) && value !== undefined) return [name, HIDDEN] as const;
    return [name, typeof value === 'string' ? redactText(value) : value] as const;
  });
  return {
    ...Object.fromEntries(shown),
    'redis-url': describeRedis(redisUrl),
    controllers: definitions.map(({ name }) => name),
    scope: { namespaces: scope.namespaces, selector: scope.selector },
    workers: Object.fromEntries(workersOf),
    'admin-serves': adminTls.serves,
    'sync-timeout-ms': Object.fromEntries(syncTimeoutMsOf),
  };
}

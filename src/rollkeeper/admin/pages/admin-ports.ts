import type {
  AdminPorts,
  DeploymentCaches,
  LeaseView,
  LocalReads,
  PeerRegistry,
  SetCaches,
  StatusSource,
} from '../server/index.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { AccessJudge } from '../delegated-access/index.js';
import type { DecisionLog, RunningSyncs } from '../../insight/explain/index.js';
import type { Informer, InformerFactory } from '@rollkeeper/client/informer';
import { cacheNameOf } from '@rollkeeper/client/informer';
import type { Deployment, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Namespace, Node, Pod, ReplicaSet, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import {
  DEPLOYMENT_APIS,
  NAMESPACE_POLICIES,
  deploymentControllerName,
  deploymentTypeOf,
} from '@rollkeeper/controllers/deployment';
import type { Logger } from '@rollkeeper/machinery/logging';
import { getLogLevel, setLogLevel } from '@rollkeeper/machinery/logging';
import type { PlaceNode } from '@rollkeeper/controllers/set-rollouts';
import { NODE_PLACES } from '@rollkeeper/controllers/set-rollouts';
import { ControllerRevision } from '@rollkeeper/controllers/shared';
import type { ExtendedManager } from '@rollkeeper/runtime';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import type { Election } from '@rollkeeper/runtime/operator/election';
import { replicaOf } from '@rollkeeper/runtime/operator/election';
import type { ServedCertificate } from '@rollkeeper/tls';

interface AdminPortParts {
  readonly openMetrics: boolean;
  readonly localReads: LocalReads;
  /** The options in force, without secrets. */
  readonly config: () => Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly token: string | null;
  readonly delegated: AccessJudge | null;
  readonly certificate: ServedCertificate | null;
  readonly status: StatusSource;
  readonly manager: ExtendedManager;
  readonly decisions: DecisionLog;
  readonly running: RunningSyncs;
  readonly peers: PeerRegistry & Pick<AdminPorts, 'singleUses'>;
  readonly traces: AdminPorts['traces'];
  /** @default none is measured */
  readonly objectives?: AdminPorts['objectives'];
  /** See `AdminPorts.clientAs`. @default none */
  readonly clientAs?: AdminPorts['clientAs'];
  /** @default none */
  readonly oidc?: AdminPorts['oidc'];
  /** @default none is looked for */
  readonly besides?: AdminPorts['besides'];
  /** @default unknown */
  readonly consoleUrl?: AdminPorts['consoleUrl'];
  /** @default none */
  readonly clusters?: AdminPorts['clusters'];
}

/** This replica as the admin API sees it. */
export function createAdminPorts(parts: AdminPortParts): AdminPorts {
  const { clock, config, decisions, localReads, logger, manager, openMetrics, peers, running, status } =
    parts;
  const { identity, informers } = manager;
  return {
    identity,
    startedAtMs: clock.now(),
    clock,
    logger,
    token: parts.token ?? undefined,
    delegated: parts.delegated ?? undefined,
    certificate: parts.certificate ?? undefined,
    openMetrics,
    localReads,
    status,
    config,
    store: {
      get name() {
        return manager.coordination.name;
      },
      ping: () => manager.coordination.ping(),
    },
    hasObject: (name, key) =>
      manager.controllers.find(({ controller }) => controller.name === name)?.hasObject?.(key),
    logLevel: { get: getLogLevel, set: setLogLevel },
    // The controllers exist once the application has started.
    queues: () => new Map(manager.controllers.map(({ controller, queue }) => [controller.name, queue])),
    caches: () => cachesOf(informers),
    sets: () => setCachesOf(manager),
    decisions,
    running,
    traces: parts.traces,
    slots: () => manager.slotOwners,
    lease: () => readLease(manager.election, clock),
    peers,
    ...(peers.singleUses && { singleUses: peers.singleUses }),
    client: manager.client,
    ...(parts.objectives && { objectives: parts.objectives }),
    ...(parts.clientAs && { clientAs: parts.clientAs }),
    ...(parts.besides && { besides: parts.besides }),
    ...(parts.oidc && { oidc: parts.oidc }),
    ...(parts.clusters && { clusters: parts.clusters }),
    ...(parts.consoleUrl !== undefined && { consoleUrl: parts.consoleUrl }),
  };
}

function cachesOf(informers: InformerFactory): readonly DeploymentCaches[] {
  const find = <T extends KubernetesObject>(type: ResourceType) =>
    informers.find(qualifiedResource(type)) as Informer<T> | undefined;
  const [replicaSets, pods] = [find<ReplicaSet>(ReplicaSet), find<Pod>(Pod)];
  const namespaces = find<Namespace>(Namespace);
  const namespacePolicies = informers.find(cacheNameOf(NAMESPACE_POLICIES));
  const nodes = find<Node>(Node);
  return DEPLOYMENT_APIS.flatMap((apiVersion) => {
    const deployments = find<Deployment>(deploymentTypeOf(apiVersion));
    if (!deployments || !replicaSets || !pods) return [];
    const controller = deploymentControllerName(apiVersion);
    return [{ apiVersion, controller, deployments, replicaSets, pods, namespaces, namespacePolicies, nodes }];
  });
}

function setCachesOf({ controllers, informers }: ExtendedManager): readonly SetCaches[] {
  const find = <T extends KubernetesObject>(type: ResourceType) =>
    informers.find(qualifiedResource(type)) as Informer<T> | undefined;
  const names = new Set(controllers.map(({ controller }) => controller.name));
  const [revisions, pods] = [find<ControllerRevision>(ControllerRevision), find<Pod>(Pod)];
  const namespaces = informers.find(cacheNameOf(NAMESPACE_POLICIES)) ?? find<Namespace>(Namespace);
  const places = informers.find(cacheNameOf(NODE_PLACES)) as Informer<PlaceNode> | undefined;
  return [StatefulSet, DaemonSet].flatMap((type) => {
    const sets = find<StatefulSet | DaemonSet>(type);
    const controller = `${type.kind.toLowerCase()}-rollout`;
    if (!names.has(controller) || !sets || !revisions || !pods) return [];
    return [
      {
        kind: type.kind as SetCaches['kind'],
        controller,
        sets,
        revisions,
        pods,
        ...(namespaces && { namespaces }),
        ...(places && type === DaemonSet && { nodes: places }),
      },
    ];
  });
}

/** The store's clock says when it was renewed, ours how long ago that was: accurate as far as the two agree. */
async function readLease(election: Election, clock: Clock): Promise<LeaseView | undefined> {
  const record = await election.lease();
  if (!record) return undefined;
  const durationMs = record.leaseDurationSeconds * 1000;
  const renewedAtMs = Date.parse(record.renewTime);
  return {
    holder: replicaOf(record.holderIdentity),
    epoch: record.leaderTransitions,
    durationMs,
    renewedAtMs,
    remainingMs: Math.min(durationMs, Math.max(0, renewedAtMs + durationMs - clock.now())),
  };
}

import type { NodeLabels } from '@rollkeeper/controllers/shared';
import { Inject, Injectable } from '@nestjs/common';
import type {
  ControlKnowledge,
  LoggedDecision,
  Explanation,
  QueueKnowledge,
} from '../../insight/explain/index.js';
import { explainDeployment, notReadyNodes } from '../../insight/explain/index.js';
import { queuedRollout } from '@rollkeeper/controllers/deployment';
import type { SetRollout } from '@rollkeeper/controllers/set-rollouts';
import { asksForSetPolicies } from '@rollkeeper/controllers/set-rollouts';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import { setRollout } from '../../insight/rollout/index.js';
import { NAMESPACE_INDEX, controlledBy, ownedBy } from '@rollkeeper/client/informer';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isPodReady, keyOf } from '@rollkeeper/machinery/kubernetes';
import { abortable } from '@rollkeeper/machinery/cancellation';
import { TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import { isSilence } from '../../terminal/first-answer.js';
import type { DeploymentCaches, SetCaches } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import type { ClusterSnapshot } from './cluster-view.js';
import { ClusterView } from './cluster-view.js';
import { StoreWatch } from './store-watch.js';

/** Explains Deployments from this replica's caches and the knowledge of all replicas. */
@Injectable()
export class ExplainSource {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ClusterView) private readonly cluster: ClusterView,
    @Inject(StoreWatch) private readonly store: StoreWatch,
  ) {}

  /** Undefined: no such Deployment in the cache. */
  async explain(caches: DeploymentCaches, key: string): Promise<Explanation | undefined> {
    const deployment = caches.deployments.lister.get(key);
    if (!deployment) return undefined;
    const { controller } = caches;
    const observed = this.observed(caches, deployment);
    const [apiProblem, snapshot, decisions] = await Promise.all([
      this.apiProblem(),
      this.cluster.snapshot(),
      this.cluster.decisions(controller, key, deployment.metadata.uid ?? ''),
    ]);
    const [queue, replicaSetQueues] = await Promise.all([
      this.queueKnowledge(snapshot, controller, key),
      this.replicaSetQueues(snapshot, observed.replicaSets),
    ]);
    const retry = queue?.retry && { ...queue.retry, error: lastReason(decisions) };
    return explainDeployment({
      ...observed,
      replicaSetQueues,
      neighbours: neighboursOf(caches, deployment),
      queue: queue && { ...queue, retry },
      control: controlOf(snapshot, controller, apiProblem),
      decisions,
    });
  }

  /** The quick explanation for lists: only from cached objects, without requests. */
  glance(caches: DeploymentCaches, deployment: DeepReadonly<Deployment>): Explanation {
    const decisions: readonly LoggedDecision[] = [];
    return explainDeployment({ ...this.observed(caches, deployment), decisions });
  }

  /** The set as a rollout, from the caches. Undefined: there is no such set, or its rollouts are under no policy. */
  setRollout({ kind, nodes, pods, revisions, sets }: SetCaches, key: string): SetRollout | undefined {
    const set = sets.lister.get(key);
    if (!set || !asksForSetPolicies(set.metadata.annotations)) return undefined;
    const type = kind === 'DaemonSet' ? DaemonSet : StatefulSet;
    const owned = {
      revisions: ownedBy(revisions.lister, set),
      pods: ownedBy(pods.lister, set),
      ...(nodes?.hasSynced && { nodes: nodes.lister.list() }),
    };
    return setRollout(type, { set, ...owned }, this.ports.clock.now());
  }

  /** The quick explanation of the rollout of a set, in the form of a Deployment's. */
  glanceSet(caches: SetCaches, rollout: SetRollout): Explanation {
    return explainDeployment({ ...this.observedSet(caches, rollout), decisions: [] });
  }

  /** Explains the rollout of a set, in the form of a Deployment's. Undefined: it has none that is led here. */
  async explainSet(caches: SetCaches, key: string): Promise<Explanation | undefined> {
    const rollout = this.setRollout(caches, key);
    if (!rollout) return undefined;
    const { controller } = caches;
    const [apiProblem, snapshot, decisions] = await Promise.all([
      this.apiProblem(),
      this.cluster.snapshot(),
      this.cluster.decisions(controller, key, rollout.deployment.metadata.uid ?? ''),
    ]);
    const queue = await this.queueKnowledge(snapshot, controller, key);
    return explainDeployment({
      ...this.observedSet(caches, rollout),
      queue: queue && { ...queue, retry: queue.retry && { ...queue.retry, error: lastReason(decisions) } },
      control: controlOf(snapshot, controller, apiProblem),
      decisions,
    });
  }

  private observedSet({ namespaces, sets }: SetCaches, rollout: SetRollout) {
    const { name, namespace = '' } = rollout.deployment.metadata;
    const set = sets.lister.get(keyOf({ namespace, name }));
    return {
      ...rollout,
      namespaceAnnotations: namespaces?.lister.get(namespace)?.metadata.annotations,
      sizedElsewhere: { mostUnavailable: set ? mostUnavailableOf(set, rollout) : 0 },
      nowMs: this.ports.clock.now(),
    };
  }

  /** The caches show the last state while the API is silent, so each explanation asks whether it is. */
  private async apiProblem(): Promise<string | undefined> {
    const { client, clock } = this.ports;
    if (!client) return undefined;
    const limit = new AbortController();
    const silence = new TimeoutError(`nothing came for ${API_WITHIN_MS / 1000} s`);
    const timer = clock.setTimeout(() => limit.abort(silence), API_WITHIN_MS);
    try {
      await abortable(client.ping({ signal: limit.signal }), limit.signal);
      return undefined;
    } catch (error) {
      return isSilence(error) ? errorMessage(error) : undefined;
    } finally {
      timer.cancel();
    }
  }

  private observed(caches: DeploymentCaches, deployment: DeepReadonly<Deployment>) {
    const replicaSets = controlledBy(caches.replicaSets.lister, deployment);
    const pods = replicaSets.flatMap((replicaSet) => ownedBy(caches.pods.lister, replicaSet));
    const draining = ownedBy(caches.pods.lister, deployment);
    const namespace = caches.namespaces?.lister.get(deployment.metadata.namespace ?? '');
    const namespaceTerminating = namespace && namespace.metadata.deletionTimestamp !== undefined;
    const defaults = caches.namespacePolicies?.lister.get(deployment.metadata.namespace ?? '') ?? namespace;
    const nodesNotReady = nodesNotReadyOf(caches, pods);
    return {
      deployment,
      replicaSets,
      pods,
      draining,
      namespaceTerminating,
      namespaceAnnotations: defaults?.metadata.annotations,
      nodesNotReady,
      nodeLabels: nodeLabelsOf(caches),
      ...(queuedRollout(deployment).length > 0 && {
        queuedRollouts: caches.deployments.lister.list().flatMap(queuedRollout),
      }),
      nowMs: this.ports.clock.now(),
    };
  }

  /** Few: those that are not at their target. */
  private async replicaSetQueues(
    snapshot: ClusterSnapshot,
    replicaSets: readonly DeepReadonly<ReplicaSet>[],
  ): Promise<ReadonlyMap<string, QueueKnowledge>> {
    const short = replicaSets
      .filter(({ spec, status }) => (status?.availableReplicas ?? 0) < (spec.replicas ?? 1))
      .slice(0, REPLICA_SETS_ASKED_FOR);
    const known = await Promise.all(
      short.map(({ metadata }) => this.queueKnowledge(snapshot, 'replicaset', keyOf(metadata))),
    );
    return new Map(
      short.flatMap(({ metadata }, index) => {
        const knowledge = known[index];
        return knowledge ? [[metadata.name, knowledge] as const] : [];
      }),
    );
  }

  private async queueKnowledge(
    snapshot: ClusterSnapshot,
    controller: string,
    key: string,
  ): Promise<QueueKnowledge | undefined> {
    try {
      const view = await this.store.ask(async () => this.ports.queues().get(controller)?.inspectKey(key));
      if (!view) return undefined;
      const { delayed, failures, parked, waiting } = view;
      const retry = failures > 0 ? { failures, dueMs: delayed?.dueMs } : undefined;
      const queued = { parked, retry, comesBackMs: delayed?.dueMs, waiting: waiting !== undefined };
      return { ...queued, ...runsOf(snapshot, controller, key) };
    } catch {
      return undefined;
    }
  }
}

/** Long enough for a busy server, and short enough for a person who asks in an outage. */
const API_WITHIN_MS = 1200;
/** An unfinished rollout has two of them, several rollouts in succession a few more. */
const REPLICA_SETS_ASKED_FOR = 10;
/** Further ones are not checked: a conflict is a note, not worth the time. */
const NEIGHBOURS = 2000;

function controlOf(
  { leader, replicas, store }: ClusterSnapshot,
  controller: string,
  apiProblem: string | undefined,
): ControlKnowledge {
  const controllerRuns = replicas.some(({ controllers }) =>
    controllers.some(({ consuming, name }) => name === controller && consuming),
  );
  return { controllerRuns, leader, store, ...(apiProblem !== undefined && { apiProblem }) };
}

/** Why the last sync is retried. */
function lastReason([last]: readonly LoggedDecision[]): string | undefined {
  return last?.error ?? last?.setback;
}

/** `maxUnavailable` of the set's strategy, as its controller follows it: 1 by default and at least, and a percentage is rounded up. */
function mostUnavailableOf(
  { spec }: DeepReadonly<StatefulSet | DaemonSet>,
  { deployment }: SetRollout,
): number {
  const { maxUnavailable = 1 }: { readonly maxUnavailable?: number | string } =
    spec.updateStrategy?.rollingUpdate ?? {};
  if (typeof maxUnavailable === 'number') return Math.max(1, maxUnavailable);
  return Math.max(1, Math.ceil((Number.parseFloat(maxUnavailable) * (deployment.spec.replicas ?? 1)) / 100));
}

/** Undefined if no nodes are cached. */
function nodeLabelsOf({ nodes }: DeploymentCaches): NodeLabels | undefined {
  if (!nodes?.hasSynced) return undefined;
  return {
    availability: 'known',
    valueOf: (name, label) => nodes.lister.get(name)?.metadata.labels?.[label],
  };
}

/** Undefined if no nodes are cached. */
function nodesNotReadyOf(
  { nodes }: DeploymentCaches,
  pods: readonly DeepReadonly<Pod>[],
): ReadonlyMap<string, string | undefined> | undefined {
  if (!nodes?.hasSynced) return undefined;
  const names = new Set(pods.filter((pod) => !isPodReady(pod)).flatMap(({ spec }) => spec.nodeName ?? []));
  return notReadyNodes([...names].flatMap((name) => nodes.lister.get(name) ?? []));
}

/** The replica that processes the key, and the cancelled syncs that have not ended. */
function runsOf(
  { replicas }: ClusterSnapshot,
  controller: string,
  key: string,
): Pick<QueueKnowledge, 'runningOn' | 'overdue'> {
  const runs = replicas.flatMap(({ identity: replica, running }) =>
    running
      .filter((sync) => sync.controller === controller && sync.key === key)
      .map(({ overdueSinceMs, sinceMs }) => ({ replica, sinceMs, overdueSinceMs })),
  );
  const overdue = runs.find(isOverdue);
  return { runningOn: runs.find((run) => !isOverdue(run))?.replica, ...(overdue ? { overdue } : {}) };
}

function isOverdue<Run extends { overdueSinceMs?: number | undefined }>(
  run: Run,
): run is Run & { overdueSinceMs: number } {
  return run.overdueSinceMs !== undefined;
}

function neighboursOf(
  { deployments }: DeploymentCaches,
  { metadata }: DeepReadonly<Deployment>,
): readonly DeepReadonly<Deployment>[] {
  const all = deployments.lister.byIndex(NAMESPACE_INDEX, metadata.namespace ?? '');
  return all.length > NEIGHBOURS ? [] : all;
}

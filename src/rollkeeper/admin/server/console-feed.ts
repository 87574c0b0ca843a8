import { Inject, Injectable } from '@nestjs/common';
import { pause } from '@rollkeeper/machinery/clock';
import { aborted } from '@rollkeeper/machinery/cancellation';
import type { LoggedDecision } from '../../insight/explain/index.js';
import type { DeepReadonly, KubernetesObject, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeploymentCaches } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import type { ClusterSnapshot } from './cluster-view.js';
import { ClusterView } from './cluster-view.js';
import type { DeploymentSummary } from './console-summary.js';
import { summarize, summaryKey } from './console-summary.js';
import { ExplainSource } from './explain-source.js';
import { StoreWatch } from './store-watch.js';
import type { ParkedKey, WorkQueueCounts, WorkQueueInspector } from '@rollkeeper/runtime/work-queue';

/** The events of the console. */
export type FeedEvent =
  | {
      readonly type: 'hello';
      readonly identity: string;
      readonly nowMs: number;
      /** Whether there are rollouts to show: other operators' controllers may watch none. */
      readonly watchesDeployments: boolean;
    }
  | {
      readonly type: 'deployments';
      readonly changed: readonly DeploymentSummary[];
      readonly gone: readonly string[];
    }
  | { readonly type: 'listed' }
  | {
      readonly type: 'cluster';
      readonly nowMs: number;
      readonly cluster: ClusterSnapshot;
      readonly queues: readonly QueueSummary[];
    }
  | { readonly type: 'decisions'; readonly decisions: readonly LoggedDecision[] }
  /** Lines of a pod's log; none says that the pod is silent. */
  | { readonly type: 'log'; readonly lines: readonly string[] }
  /** The last event of a log: the container has ended, or why no more can be read. */
  | { readonly type: 'log-end'; readonly problem?: string }
  /** The last event of a stream: the same client opened too many others. */
  | { readonly type: 'gave-way' };

interface QueueSummary {
  readonly controller: string;
  readonly counts: WorkQueueCounts;
  readonly parked: readonly ParkedKey[];
}

/** A connected viewer. */
export interface Viewer {
  send(event: FeedEvent): void;
  /** Resolves once most of the sent data has been read, or the viewer has disconnected. */
  drained(): Promise<void>;
}

/** Changes are collected for this time, so that a rollout is a few frames a second and not hundreds. */
const FLUSH_MS = 120;
const CLUSTER_MS = 500;
/** Some summaries change with time alone: deadlines, starting pods. */
const REFRESH_MS = 1000;
const CHUNK = 100;
const PARKED_SHOWN = 100;
const DECISIONS_AT_FIRST = 200;

/**
 * The console's live view. Only works while there are viewers: watches the caches and queries the replicas once for all
 * of them.
 */
@Injectable()
export class ConsoleFeed {
  private readonly viewers = new Set<Viewer>();
  private stopWork: AbortController | undefined;

  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ClusterView) private readonly cluster: ClusterView,
    @Inject(ExplainSource) private readonly source: ExplainSource,
    @Inject(StoreWatch) private readonly store: StoreWatch,
  ) {}

  /** Sends the complete state, and then changes, until aborted. */
  async serve(viewer: Viewer, signal: AbortSignal): Promise<void> {
    const { clock, identity } = this.ports;
    const watchesDeployments = this.ports.caches().length > 0;
    viewer.send({ type: 'hello', identity, nowMs: clock.now(), watchesDeployments });
    this.join(viewer);
    try {
      await this.sendAll(viewer, signal);
      await aborted(signal);
    } finally {
      this.leave(viewer);
    }
  }

  private async sendAll(viewer: Viewer, signal: AbortSignal): Promise<void> {
    for (const caches of this.ports.caches()) await this.sendOf(caches, viewer, signal);
    viewer.send({ type: 'listed' });
    viewer.send({ type: 'decisions', decisions: await this.cluster.decisionsSince(0, DECISIONS_AT_FIRST) });
  }

  private async sendOf(caches: DeploymentCaches, viewer: Viewer, signal: AbortSignal): Promise<void> {
    const deployments = caches.deployments.lister.list();
    for (let start = 0; start < deployments.length && !signal.aborted; start += CHUNK) {
      const nowMs = this.ports.clock.now();
      const changed = deployments
        .slice(start, start + CHUNK)
        .map((deployment) => summarize(this.source, caches, deployment, nowMs));
      viewer.send({ type: 'deployments', changed, gone: [] });
      await viewer.drained();
      await pause(this.ports.clock, 0, signal);
    }
  }

  private join(viewer: Viewer): void {
    this.viewers.add(viewer);
    if (this.stopWork) return;
    this.stopWork = new AbortController();
    const { signal } = this.stopWork;
    for (const caches of this.ports.caches()) this.follow(caches, signal);
    void this.repeat(CLUSTER_MS, signal, () => this.tellCluster());
  }

  private leave(viewer: Viewer): void {
    this.viewers.delete(viewer);
    if (this.viewers.size > 0) return;
    this.stopWork?.abort();
    this.stopWork = undefined;
  }

  private broadcast(event: FeedEvent): void {
    for (const viewer of this.viewers) viewer.send(event);
  }

  /** Collects the keys of Deployments whose rollout looks different, and sends them a few times a second. */
  private follow(caches: DeploymentCaches, signal: AbortSignal): void {
    const dirty = new Set<string>();
    const moving = new Set<string>();
    const ofReplicaSet = (replicaSet: DeepReadonly<ReplicaSet> | undefined): void => {
      const owner = replicaSet && controllerOf(replicaSet);
      if (owner?.kind === 'Deployment' && owner.apiVersion === caches.apiVersion)
        dirty.add(keyOf({ namespace: replicaSet?.metadata.namespace, name: owner.name }));
    };
    const ofPod = (pod: DeepReadonly<KubernetesObject>): void => {
      const owner = controllerOf(pod);
      if (owner?.kind === 'ReplicaSet')
        ofReplicaSet(
          caches.replicaSets.lister.get(keyOf({ namespace: pod.metadata.namespace, name: owner.name })),
        );
    };
    let primed = false;
    const removals = [
      caches.deployments.addEventHandler(({ object }) => primed && dirty.add(keyOf(object.metadata))),
      caches.replicaSets.addEventHandler(({ object }) => primed && ofReplicaSet(object)),
      caches.pods.addEventHandler(({ object }) => primed && ofPod(object)),
    ];
    primed = true;
    signal.addEventListener('abort', () => removals.forEach((remove) => remove()), { once: true });
    void this.repeat(FLUSH_MS, signal, async () => this.flush(caches, dirty, moving));
    void this.repeat(REFRESH_MS, signal, async () => moving.forEach((key) => dirty.add(key)));
  }

  private flush(caches: DeploymentCaches, dirty: Set<string>, moving: Set<string>): void {
    if (dirty.size === 0) return;
    const keys = [...dirty].slice(0, CHUNK * 2);
    const changed: DeploymentSummary[] = [];
    const gone: string[] = [];
    for (const key of keys) {
      dirty.delete(key);
      moving.delete(key);
      const deployment = caches.deployments.lister.get(key);
      if (!deployment) gone.push(summaryKey(caches, key));
      else {
        const summary = summarize(this.source, caches, deployment, this.ports.clock.now());
        changed.push(summary);
        if (['progressing', 'blocked', 'degraded'].includes(summary.state)) moving.add(key);
      }
    }
    this.broadcast({ type: 'deployments', changed, gone });
  }

  private lastDecisionMs = 0;

  private async tellCluster(): Promise<void> {
    const { clock } = this.ports;
    const queues = [...this.ports.queues()];
    this.lastDecisionMs ||= clock.now();
    const since = this.lastDecisionMs;
    const [cluster, decisions, summaries] = await Promise.all([
      this.cluster.snapshot(),
      this.cluster.decisionsSince(since, DECISIONS_AT_FIRST),
      Promise.all(queues.map(([controller, queue]) => this.queueSummary(controller, queue))),
    ]);
    this.broadcast({
      type: 'cluster',
      nowMs: clock.now(),
      cluster,
      queues: summaries.filter((summary) => summary !== undefined),
    });
    const [newest] = decisions;
    if (!newest) return;
    this.lastDecisionMs = newest.atMs;
    this.broadcast({ type: 'decisions', decisions });
  }

  private async queueSummary(
    controller: string,
    queue: WorkQueueInspector,
  ): Promise<QueueSummary | undefined> {
    try {
      const read = () => Promise.all([queue.counts(), queue.parked()]);
      const [counts, parked] = await this.store.ask(read);
      return { controller, counts, parked: parked.slice(0, PARKED_SHOWN) };
    } catch {
      return undefined;
    }
  }

  private async repeat(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { clock, logger } = this.ports;
    while (!signal.aborted) {
      await work().catch((error: unknown) => logger.debug('the console could not be updated', { error }));
      await pause(clock, everyMs, signal);
    }
  }
}

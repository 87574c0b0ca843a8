import { Inject, Injectable } from '@nestjs/common';
import { pause } from '@rollkeeper/machinery/clock';
import { aborted } from '@rollkeeper/machinery/cancellation';
import { keyOf, parseKey } from '@rollkeeper/machinery/kubernetes';
import { AdminPorts } from './admin-ports.js';
import { ClusterView } from './cluster-view.js';
import type { DeploymentSummary } from './console-summary.js';
import type { CallerPass } from './caller-pass.js';
import { ExplainSource } from './explain-source.js';
import type { FeedEvent, QueueSummary, RowChanges, Viewer } from './feed-events.js';
import { OtherReplicas } from './other-replicas.js';
import type { RowSource } from './row-sources.js';
import { rowSources } from './row-sources.js';
import { SlotFeed } from './slot-feed.js';
import { SlotReplicas } from './slot-replicas.js';
import { StoreWatch } from './store-watch.js';
import type { WorkQueueInspector } from '@rollkeeper/runtime/work-queue';

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
  /** Other replicas: they are sent what this one owns, and no more. */
  private readonly replicas = new Set<Viewer>();
  private stopWork: AbortController | undefined;

  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ClusterView) private readonly cluster: ClusterView,
    @Inject(ExplainSource) private readonly source: ExplainSource,
    @Inject(StoreWatch) private readonly store: StoreWatch,
    @Inject(OtherReplicas) private readonly others: OtherReplicas,
    @Inject(SlotReplicas) private readonly owners: SlotReplicas,
  ) {}

  /**
   * Sends the complete state, and then changes, until aborted. With slots, it is put together from all replicas that own some.
   * @param pass the rights with which the others are asked
   */
  async serve(viewer: Viewer, signal: AbortSignal, pass: CallerPass = {}): Promise<void> {
    if (!this.ports.slots?.()) return this.serveTo(viewer, this.viewers, signal);
    const { clock } = this.ports;
    const feed = new SlotFeed({ clock, viewer, pass, others: this.others, replicas: this.owners });
    await Promise.all([this.serveTo(feed, this.viewers, signal), feed.run(signal)]);
  }

  /** The same for another replica: only the rows and queues of the slots that this one owns. */
  serveReplica(viewer: Viewer, signal: AbortSignal): Promise<void> {
    return this.serveTo(viewer, this.replicas, signal);
  }

  private async serveTo(viewer: Viewer, among: Set<Viewer>, signal: AbortSignal): Promise<void> {
    const { clock, identity } = this.ports;
    const watchesDeployments = this.ports.caches().length > 0;
    viewer.send({ type: 'hello', identity, nowMs: clock.now(), watchesDeployments });
    this.join(viewer, among);
    try {
      await this.sendAll(viewer, signal);
      if (among === this.viewers) await this.sendDecisions(viewer);
      await aborted(signal);
    } finally {
      this.leave(viewer, among);
    }
  }

  private async sendAll(viewer: Viewer, signal: AbortSignal): Promise<void> {
    for (const rows of this.rows()) await this.sendOf(rows, viewer, signal);
    viewer.send({ type: 'listed' });
  }

  private async sendDecisions(viewer: Viewer): Promise<void> {
    viewer.send({ type: 'decisions', decisions: await this.cluster.decisionsSince(0, DECISIONS_AT_FIRST) });
  }

  private rows(): readonly RowSource[] {
    return rowSources(this.ports, this.source);
  }

  private async sendOf(rows: RowSource, viewer: Viewer, signal: AbortSignal): Promise<void> {
    const objects = rows.list().filter(({ metadata }) => this.isShown(metadata.namespace));
    for (let start = 0; start < objects.length && !signal.aborted; start += CHUNK) {
      const nowMs = this.ports.clock.now();
      const some = objects.slice(start, start + CHUNK);
      const changed = some.flatMap(({ metadata }) => rows.rowOf(keyOf(metadata), nowMs) ?? []);
      viewer.send({ type: 'deployments', changed, gone: [] });
      await viewer.drained();
      await pause(this.ports.clock, 0, signal);
    }
  }

  /** With slots, each replica shows the rollouts of those that it owns. */
  private isShown(namespace: string | undefined): boolean {
    return this.ports.slots?.()?.owns(namespace) ?? true;
  }

  private join(viewer: Viewer, among: Set<Viewer>): void {
    among.add(viewer);
    if (this.stopWork) return;
    this.stopWork = new AbortController();
    const { signal } = this.stopWork;
    for (const rows of this.rows()) this.follow(rows, signal);
    void this.repeat(CLUSTER_MS, signal, () => this.tellCluster());
  }

  private leave(viewer: Viewer, among: Set<Viewer>): void {
    among.delete(viewer);
    if (this.viewers.size > 0 || this.replicas.size > 0) return;
    this.stopWork?.abort();
    this.stopWork = undefined;
  }

  private broadcast(event: FeedEvent, to: readonly Set<Viewer>[] = [this.viewers]): void {
    for (const viewers of to) for (const viewer of viewers) viewer.send(event);
  }

  private tellRows(changes: RowChanges): void {
    this.broadcast({ type: 'deployments', ...changes }, [this.viewers, this.replicas]);
  }

  /** Collects the keys of rollouts that look different, and sends them a few times a second. */
  private follow(rows: RowSource, signal: AbortSignal): void {
    const dirty = new Set<string>();
    const moving = new Set<string>();
    const removals = [this.followSlots(rows, dirty), rows.follow((key) => dirty.add(key))];
    signal.addEventListener('abort', () => removals.forEach((remove) => remove()), { once: true });
    void this.repeat(FLUSH_MS, signal, async () => this.flush(rows, dirty, moving));
    void this.repeat(REFRESH_MS, signal, async () => moving.forEach((key) => dirty.add(key)));
  }

  /** The rows of a slot come with it, and go with it at once: the caches forget its objects without an event. */
  private followSlots(rows: RowSource, dirty: Set<string>): () => void {
    const slots = this.ports.slots?.();
    const keysIn = (some: ReadonlySet<number>): string[] =>
      rows
        .list()
        .filter(({ metadata }) => some.has(slots?.slotOf(metadata.namespace) ?? -1))
        .map(({ metadata }) => keyOf(metadata));
    return (
      slots?.listen({
        begun: (some) => keysIn(some).forEach((key) => dirty.add(key)),
        ended: (some) => {
          const left = keysIn(some).map((key) => rows.rowKey(key));
          if (left.length > 0) this.tellRows({ changed: [], gone: [], left });
        },
      }) ?? (() => undefined)
    );
  }

  private flush(rows: RowSource, dirty: Set<string>, moving: Set<string>): void {
    if (dirty.size === 0) return;
    const keys = [...dirty].slice(0, CHUNK * 2);
    const changed: DeploymentSummary[] = [];
    const gone: string[] = [];
    for (const key of keys) {
      dirty.delete(key);
      moving.delete(key);
      if (!this.isShown(parseKey(key).namespace)) continue;
      const row = rows.rowOf(key, this.ports.clock.now());
      if (!row) gone.push(rows.rowKey(key));
      else {
        changed.push(row);
        if (['progressing', 'blocked', 'degraded'].includes(row.state)) moving.add(key);
      }
    }
    if (changed.length > 0 || gone.length > 0) this.tellRows({ changed, gone });
  }

  private lastDecisionMs = 0;

  private async tellCluster(): Promise<void> {
    const queues = [...this.ports.queues()];
    const read = await Promise.all(queues.map(([controller, queue]) => this.queueSummary(controller, queue)));
    const summaries = read.filter((summary) => summary !== undefined);
    const slots = this.ports.slots?.();
    const own = summaries.filter(({ controller }) => slots?.spreads(controller));
    this.broadcast({ type: 'queues', queues: own }, [this.replicas]);
    if (this.viewers.size > 0) await this.tellWhole(summaries);
  }

  private async tellWhole(queues: readonly QueueSummary[]): Promise<void> {
    const { clock } = this.ports;
    this.lastDecisionMs ||= clock.now();
    const since = this.lastDecisionMs;
    const [cluster, decisions] = await Promise.all([
      this.cluster.snapshot(),
      this.cluster.decisionsSince(since, DECISIONS_AT_FIRST),
    ]);
    this.broadcast({ type: 'cluster', nowMs: clock.now(), cluster, queues });
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

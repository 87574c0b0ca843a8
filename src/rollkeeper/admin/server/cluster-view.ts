import { Inject, Injectable } from '@nestjs/common';
import type { LoggedDecision, RunningSync } from '../../insight/explain/index.js';
import { isAbout } from '../../insight/explain/index.js';
import type { ShownSpan } from '@rollkeeper/opentelemetry';
import type { LeaseView, Peer } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import type { ObjectiveReport, Samples } from '../../insight/objectives/index.js';
import { reportObjectives } from '../../insight/objectives/index.js';
import { OtherReplicas } from './other-replicas.js';
import type { AnswerForm } from './peer-answers.js';
import { DECISIONS, LOCAL, SAMPLES, SPANS, inForm } from './peer-answers.js';
import type { PeerAnswer } from './peer-client.js';
import { hasEnded, silenceOf } from './seen-replicas.js';
import type { ReplicaStatus, StoreView } from './status-source.js';
import { StoreWatch } from './store-watch.js';
import { createHash } from 'node:crypto';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** Options that say which replica it is and where: each has its own. */
const OF_ITSELF: ReadonlySet<string> = new Set(['identity', 'admin-host', 'admin-port']);

/**
 * Equal for replicas that were given the same options, and different otherwise: without those of a replica itself, in any
 * order. Of hidden values only that there is one counts.
 */
export function digestOfOptions(options: Readonly<Record<string, unknown>>): string {
  const common = Object.entries(options)
    .filter(([name, value]) => !OF_ITSELF.has(name) && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(stringifyJson(common)).digest('hex');
}

/** The knowledge of one replica about itself, `/admin/local`. */
export interface LocalView extends Omit<Peer, 'proof'> {
  readonly status: ReplicaStatus;
  readonly running: readonly RunningSync[];
  /** Its clock, epoch milliseconds. */
  readonly nowMs: number;
  /** See {@link digestOfOptions}. */
  readonly optionsDigest: string;
  /** When the certificate of its admin port ends, epoch milliseconds; absent: plain HTTP. */
  readonly certificateEndsAtMs?: number;
}

/** One replica in the cluster view: its answer, or that it did not answer. */
export interface ReplicaView extends Omit<Peer, 'proof'> {
  readonly reachable: boolean;
  /** Why it does not answer. */
  readonly problem?: string;
  readonly leader: boolean;
  readonly version?: string;
  readonly controllers: ReplicaStatus['controllers'];
  readonly slots?: NonNullable<ReplicaStatus['slots']>;
  readonly running: readonly RunningSync[];
  /** How far its clock is ahead of that of the replica that shows this, milliseconds; absent for itself, and from older replicas. */
  readonly aheadMs?: number;
  readonly optionsDigest?: string;
  readonly certificateEndsAtMs?: number;
}

export interface ClusterSnapshot {
  readonly leader?: string;
  readonly epoch: number;
  readonly lease?: LeaseView;
  readonly store: StoreView;
  readonly replicas: readonly ReplicaView[];
}

/** Queries all replicas, so that each of them can show the whole. */
@Injectable()
export class ClusterView {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(StoreWatch) private readonly store: StoreWatch,
    @Inject(OtherReplicas) private readonly others: OtherReplicas,
  ) {}

  async local(): Promise<LocalView> {
    const { certificate, clock, config, identity, running, startedAtMs, status } = this.ports;
    const own = { identity, adminUrl: '', pid: process.pid, startedAtMs };
    return {
      ...own,
      status: await status.status(),
      running: running.list(),
      optionsDigest: digestOfOptions(config()),
      ...(certificate && { certificateEndsAtMs: certificate.endsAtMs }),
      nowMs: clock.now(),
    };
  }

  async snapshot(): Promise<ClusterSnapshot> {
    const reading = this.store.ask(() => this.ports.lease()).catch(() => undefined);
    const [peers, lease] = await Promise.all([this.others.all(), reading]);
    const views = await Promise.all(peers.map((peer) => this.replicaView(peer)));
    const replicas = views.filter((view) => view !== undefined);
    const leads = lease && lease.remainingMs > 0 && lease.holder !== '' ? lease.holder : undefined;
    return { leader: leads, epoch: lease?.epoch ?? 0, lease, store: this.store.view(), replicas };
  }

  /**
   * The last decisions about an object, of all replicas that answer, newest first; excludes those about another object
   * that had its key.
   */
  async decisions(controller: string, key: string, uid: string): Promise<readonly LoggedDecision[]> {
    const query = new URLSearchParams({ controller, key, uid });
    const own = this.ports.decisions.of(controller, key, uid);
    const others = await this.askOthers<LoggedDecision[]>(
      `/admin/local/decisions?${query.toString()}`,
      DECISIONS,
    );
    return [...own, ...others.flat().filter((decision) => isAbout(decision, uid))]
      .sort((a, b) => b.atMs - a.atMs)
      .slice(0, 20);
  }

  /** Decisions of all replicas and keys after `afterMs`, newest first. */
  async decisionsSince(afterMs: number, limit: number): Promise<readonly LoggedDecision[]> {
    const own = this.ports.decisions.since(afterMs, limit);
    const others = await this.askOthers<LoggedDecision[]>(
      `/admin/local/decisions?since=${afterMs}&limit=${limit}`,
      DECISIONS,
    );
    return [...own, ...others.flat()].sort((a, b) => b.atMs - a.atMs).slice(0, limit);
  }

  /** The spans of one trace that the replicas still have, oldest first. */
  async trace(traceId: string): Promise<readonly ShownSpan[]> {
    const others = await this.askOthers<ShownSpan[]>(`/admin/local/traces/${traceId}`, SPANS);
    return [...this.ports.traces.of(traceId), ...others.flat()].sort((a, b) => a.startMs - b.startMs);
  }

  /** How soon rollouts were answered and done, from the measurements of all replicas: each has those of its time as the leader. */
  async objectives(): Promise<readonly ObjectiveReport[]> {
    const { clock, objectives } = this.ports;
    const others = await this.askOthers<Samples>('/admin/local/objectives', SAMPLES);
    return reportObjectives([...(objectives ? [objectives.samples()] : []), ...others], clock.now());
  }

  /** Undefined: the replica has fallen silent, and its port is closed, so that its process has ended. */
  private async replicaView(peer: Peer): Promise<ReplicaView | undefined> {
    const { clock } = this.ports;
    const isSelf = peer.identity === this.ports.identity;
    const beganMs = clock.now();
    const answer: PeerAnswer<LocalView> = isSelf
      ? { answer: await this.local() }
      : inForm(await this.others.client.ask<LocalView>(peer, '/admin/local'), LOCAL);
    if (hasEnded(answer, peer)) return undefined;
    const { answer: local } = answer;
    const problem = silenceOf(answer, peer);
    const halfWayMs = (beganMs + clock.now()) / 2;
    // A replica of an older release has none of them.
    const { certificateEndsAtMs, nowMs, optionsDigest }: Partial<LocalView> = local ?? {};
    // The proof is not for display.
    const { proof: _, ...shown } = peer;
    return {
      ...shown,
      reachable: local !== undefined,
      ...(problem === undefined ? {} : { problem }),
      leader: local?.status.leader ?? false,
      version: local?.status.version,
      controllers: local?.status.controllers ?? [],
      ...(local?.status.slots && { slots: local.status.slots }),
      running: local?.running ?? [],
      ...(!isSelf && nowMs !== undefined && { aheadMs: nowMs - halfWayMs }),
      ...(optionsDigest !== undefined && { optionsDigest }),
      ...(certificateEndsAtMs !== undefined && { certificateEndsAtMs }),
    };
  }

  private async askOthers<T>(path: string, form: AnswerForm): Promise<T[]> {
    // One that hangs would make each of these questions wait.
    const others = await this.others.that(({ silentMs }) => silentMs === undefined);
    const answers = await Promise.all(others.map((peer) => this.others.client.ask<T>(peer, path)));
    const inThatForm = answers.map((answer) => inForm(answer, form));
    return inThatForm.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  }
}

import { request } from 'undici';
import { parseJson } from '../kubernetes/index.js';
import type { Decision, RunningSync } from '../explain/index.js';
import type { ShownSpan } from '../telemetry/index.js';
import type { AdminPorts, LeaseView, Peer } from './admin-ports.js';
import type { ReplicaStatus } from './status-source.js';

/** What one replica knows of itself, `/admin/local`. */
export interface LocalView extends Peer {
  readonly status: ReplicaStatus;
  readonly running: readonly RunningSync[];
}

/** One replica in the view of all: what it answered, or that it did not. */
export interface ReplicaView extends Peer {
  readonly reachable: boolean;
  readonly leader: boolean;
  readonly version?: string;
  readonly controllers: ReplicaStatus['controllers'];
  readonly running: readonly RunningSync[];
}

export interface ClusterSnapshot {
  readonly leader?: string;
  readonly epoch: number;
  readonly lease?: LeaseView;
  readonly replicas: readonly ReplicaView[];
}

/** A replica that takes longer than this to answer is shown as unreachable. */
const PEER_TIMEOUT_MS = 800;

/** Asks all replicas, so that each of them can show the whole. */
export class ClusterView {
  constructor(private readonly ports: AdminPorts) {}

  async local(): Promise<LocalView> {
    const { identity, running, startedAtMs, status } = this.ports;
    const own = { identity, adminUrl: '', pid: process.pid, startedAtMs };
    return { ...own, status: await status.status(), running: running.list() };
  }

  async snapshot(): Promise<ClusterSnapshot> {
    const [peers, lease] = await Promise.all([this.peers(), this.ports.lease().catch(() => undefined)]);
    const replicas = await Promise.all(peers.map((peer) => this.replicaView(peer)));
    const leads = lease && lease.remainingMs > 0 && lease.holder !== '' ? lease.holder : undefined;
    return { leader: leads, epoch: lease?.epoch ?? 0, lease, replicas };
  }

  /** The last decisions about a key, of all replicas that answer, newest first. */
  async decisions(controller: string, key: string): Promise<readonly Decision[]> {
    const query = new URLSearchParams({ controller, key });
    const own = this.ports.decisions.of(controller, key);
    const others = await this.askOthers<Decision[]>(`/admin/local/decisions?${query.toString()}`);
    return [...own, ...others.flat()].sort((a, b) => b.atMs - a.atMs).slice(0, 20);
  }

  /** Decisions of all replicas and keys after `afterMs`, newest first. */
  async decisionsSince(afterMs: number, limit: number): Promise<readonly Decision[]> {
    const own = this.ports.decisions.since(afterMs, limit);
    const others = await this.askOthers<Decision[]>(`/admin/local/decisions?since=${afterMs}&limit=${limit}`);
    return [...own, ...others.flat()].sort((a, b) => b.atMs - a.atMs).slice(0, limit);
  }

  /** The spans of one trace that the replicas still have, oldest first. */
  async trace(traceId: string): Promise<readonly ShownSpan[]> {
    const others = await this.askOthers<ShownSpan[]>(`/admin/local/traces/${traceId}`);
    return [...this.ports.traces.of(traceId), ...others.flat()].sort((a, b) => a.startMs - b.startMs);
  }

  private async peers(): Promise<readonly Peer[]> {
    const { identity, peers, startedAtMs } = this.ports;
    const self: Peer = { identity, adminUrl: '', pid: process.pid, startedAtMs };
    const known = await peers.peers().catch((): readonly Peer[] => []);
    return known.some((peer) => peer.identity === identity) ? known : [self, ...known];
  }

  private async replicaView(peer: Peer): Promise<ReplicaView> {
    const isSelf = peer.identity === this.ports.identity;
    const local = isSelf ? await this.local() : await this.ask<LocalView>(peer, '/admin/local');
    return {
      ...peer,
      reachable: local !== undefined,
      leader: local?.status.leader ?? false,
      version: local?.status.version,
      controllers: local?.status.controllers ?? [],
      running: local?.running ?? [],
    };
  }

  private async askOthers<T>(path: string): Promise<T[]> {
    const others = (await this.peers()).filter(({ identity }) => identity !== this.ports.identity);
    const answers = await Promise.all(others.map((peer) => this.ask<T>(peer, path)));
    return answers.filter((answer) => answer !== undefined);
  }

  /** Undefined: it did not answer, or not as it should. */
  private async ask<T>(peer: Peer, path: string): Promise<T | undefined> {
    const { token } = this.ports;
    try {
      const { body, statusCode } = await request(peer.adminUrl + path, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        headersTimeout: PEER_TIMEOUT_MS,
        bodyTimeout: PEER_TIMEOUT_MS,
        signal: AbortSignal.timeout(PEER_TIMEOUT_MS),
      });
      const text = await body.text();
      return statusCode === 200 ? (parseJson(text) as T) : undefined;
    } catch {
      return undefined;
    }
  }
}

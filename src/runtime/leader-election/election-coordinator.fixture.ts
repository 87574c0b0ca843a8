import type { Clock } from '../../machinery/clock/index.js';
import { toRfc3339Micro, pause } from '../../machinery/clock/index.js';
import { Lease, LeaseCandidate, apiVersionOf } from '../../machinery/kubernetes/index.js';
import type { FakeCluster } from '../../testing/fake-cluster.js';

const STEP_MS = 200;
const ELECTION_MS = 5000;
const CANDIDATE_VALID_MS = 30 * 60_000;
const LEASE_SECONDS = 5;

/**
 * The server side of coordinated leader election, like kube-apiserver's leader election controller (KEP-4355): pings
 * candidates, names the one of the oldest release, and tells a holder to step down for a better candidate.
 */
export class ElectionCoordinator {
  constructor(
    private readonly cluster: FakeCluster,
    private readonly clock: Clock,
    private readonly lease: { readonly namespace: string; readonly name: string },
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.step().catch(() => undefined);
      await pause(this.clock, STEP_MS, signal);
    }
  }

  private async step(): Promise<void> {
    const nowMs = this.clock.now();
    const candidates = this.cluster
      .all<LeaseCandidate>(LeaseCandidate)
      .filter(({ spec }) => spec.leaseName === this.lease.name)
      .filter(({ spec }) => timeOf(spec.renewTime) + CANDIDATE_VALID_MS > nowMs);
    const lease = this.cluster.peek<Lease>(Lease, `${this.lease.namespace}/${this.lease.name}`);
    if (!this.needsElection(lease, candidates, nowMs)) return;
    if (await this.askWhoIsThere(candidates, nowMs)) return;
    const electee = best(candidates.filter(({ spec }) => timeOf(spec.renewTime) + ELECTION_MS > nowMs));
    if (electee) await this.name(electee.metadata.name, lease, nowMs);
  }

  private needsElection(
    lease: Lease | undefined,
    candidates: readonly LeaseCandidate[],
    nowMs: number,
  ): boolean {
    if (!lease?.spec?.holderIdentity || isExpired(lease, nowMs)) return true;
    if (candidates.some(({ spec }) => timeOf(spec.renewTime) + CANDIDATE_VALID_MS / 2 < nowMs)) return true;
    const electee = best(candidates);
    return electee !== undefined && electee.metadata.name !== lease.spec.holderIdentity;
  }

  /** Whether answers are still awaited. */
  private async askWhoIsThere(candidates: readonly LeaseCandidate[], nowMs: number): Promise<boolean> {
    let isWaiting = false;
    for (const candidate of candidates) {
      const { pingTime, renewTime } = candidate.spec;
      const hasAnswered = timeOf(renewTime) >= timeOf(pingTime);
      if (!hasAnswered && timeOf(pingTime) + ELECTION_MS > nowMs) isWaiting = true;
      else if (hasAnswered && timeOf(renewTime) + ELECTION_MS <= nowMs) {
        isWaiting = true;
        const asked = { ...candidate, spec: { ...candidate.spec, pingTime: toRfc3339Micro(nowMs) } };
        await this.cluster.update(LeaseCandidate, asked);
      }
    }
    return isWaiting;
  }

  private async name(electee: string, lease: Lease | undefined, nowMs: number): Promise<void> {
    const strategy = 'OldestEmulationVersion';
    const named = {
      ...{ holderIdentity: electee, leaseDurationSeconds: LEASE_SECONDS, strategy },
      renewTime: toRfc3339Micro(nowMs),
    };
    if (!lease) {
      const { kind } = Lease;
      const metadata = { ...this.lease };
      await this.cluster.create(Lease, { apiVersion: apiVersionOf(Lease), kind, metadata, spec: named });
      return;
    }
    const { acquireTime: _, preferredHolder: __, ...spec } = lease.spec ?? {};
    const isFree = !spec.holderIdentity || (isExpired(lease, nowMs) && spec.holderIdentity !== electee);
    if (isFree) await this.cluster.update(Lease, { ...lease, spec: { ...spec, ...named } });
    else if (spec.holderIdentity !== electee)
      await this.cluster.update(Lease, {
        ...lease,
        spec: { ...lease.spec, strategy, preferredHolder: electee },
      });
  }
}

/** The oldest release; among equals, the longest-standing candidate. */
function best(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  const rank = ({ metadata, spec }: LeaseCandidate): string =>
    [spec.emulationVersion ?? '', spec.binaryVersion, metadata.creationTimestamp ?? '', metadata.name].join(
      ' ',
    );
  return [...candidates].sort((a, b) => rank(a).localeCompare(rank(b), 'en', { numeric: true }))[0];
}

function isExpired({ spec = {} }: Lease, nowMs: number): boolean {
  return timeOf(spec.renewTime) + (spec.leaseDurationSeconds ?? 0) * 1000 < nowMs;
}

function timeOf(time: unknown): number {
  return typeof time === 'string' ? Date.parse(time) : 0;
}

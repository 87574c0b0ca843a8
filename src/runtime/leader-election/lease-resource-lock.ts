import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock, toRfc3339Micro } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, TimeoutError } from '@rollkeeper/machinery/errors';
import type { Lease } from '@rollkeeper/machinery/kubernetes';
import type { LeaseAttemptPlan } from './decide-lease-attempt.js';
import { decideLeaseAttempt } from './decide-lease-attempt.js';
import type { LeaseCandidacy } from './lease-candidate.js';
import { nextRecord } from './lease-object.js';
import type { LeaseClient, LeaseRef, ObservedLease } from './lease-observer.js';
import { LeaseObserver } from './lease-observer.js';
import { LeaseReleaseWatch } from './lease-release-watch.js';
import type { LeaderElectionRecord, LeaseAttempt, LeaseRequest, ResourceLock } from './resource-lock.js';

export interface LeaseResourceLockOptions {
  readonly client: LeaseClient;
  /** Our identity: unique to this process, also across its restarts. */
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  /** Our candidacy under its identity; a coordinator then assigns the lease. @default none: first come, first served */
  readonly candidacy?: Pick<LeaseCandidacy, 'isSupported'> | undefined;
  /** @default the system's */
  readonly clock?: Clock;
}

/** After this many conflicts the attempt has failed; the elector's next one follows soon. */
const MAX_CONFLICTS = 5;

const NOBODY: LeaderElectionRecord = {
  ...{ holderIdentity: '', leaseDurationSeconds: 0, acquireTime: '', renewTime: '' },
  ...{ leaderTransitions: 0, witness: '' },
};

/**
 * The lease as a `coordination.k8s.io` Lease, to elect a leader without Redis. Judged as in client-go's
 * `tools/leaderelection`: times written by other machines are ignored; a lease has expired when it has not changed for
 * its duration *since we saw it change*, by our own monotonic clock. Every write names the resourceVersion that it was
 * decided on, so that only one of several concurrent writes succeeds, and a delayed one never does.
 *
 * Unlike client-go: the epoch (`leaseTransitions`) also grows when a holder takes its own lease again after it had
 * expired or was released; the first epoch is 1; a release is noticed by a watch; and a Lease that is deleted while it is held is
 * left to its holder, who creates it again, until it would have expired.
 *
 * With a candidacy, as in coordinated leader election (KEP-4355): the API server's coordinator names the holder.
 */
export class LeaseResourceLock implements ResourceLock {
  readonly identity: string;
  private readonly ref: LeaseRef;
  private readonly observer: LeaseObserver;
  private readonly clock: Clock;
  private readonly releases: LeaseReleaseWatch;
  private readonly candidacy: LeaseResourceLockOptions['candidacy'];
  private freeSinceMs: number | undefined;
  private isYielding = false;
  /** The UID of the Lease that we wrote last while it was ours. Another one with its name does not continue our term. */
  private ownUid: string | undefined;

  /** @throws InvalidOptionError */
  constructor(options: LeaseResourceLockOptions) {
    const { candidacy, client, clock = new SystemClock(), identity, name, namespace } = options;
    for (const [option, value] of Object.entries({ identity, name, namespace }))
      if (value === '') throw new InvalidOptionError(option, 'is empty');
    this.identity = identity;
    this.ref = { namespace, name };
    this.clock = clock;
    this.observer = new LeaseObserver(client, this.ref, clock);
    this.candidacy = candidacy;
    this.releases = new LeaseReleaseWatch(client, this.ref, clock, ({ spec = {} }) => {
      const isOurs = spec.holderIdentity === identity;
      // Named by the coordinator, or asked to step down.
      return candidacy !== undefined && isOurs && (!spec.acquireTime || Boolean(spec.preferredHolder));
    });
  }

  describe(): string {
    return `kubernetes lease ${this.ref.namespace}/${this.ref.name}`;
  }

  async get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined> {
    return (await this.observer.look(signal))?.record;
  }

  async tryAcquireOrRenew(leaseDurationMs: number, request: LeaseRequest = {}): Promise<LeaseAttempt> {
    const { signal } = request;
    signal?.throwIfAborted();
    const isCoordinated = (await this.candidacy?.isSupported(signal)) ?? false;
    // 1. The cached lease is enough while it is ours: if it is outdated, the write is refused.
    const known = this.isOursNow() ? this.observer.observed : undefined;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const current = conflicts === 0 && known ? known : await this.observer.look(signal);
      const plan = this.decide(current, request, isCoordinated);
      this.isYielding = plan.do === 'yield';
      // 2. It is another's.
      if (plan.do === 'leave' || plan.do === 'yield') return this.held(current, leaseDurationMs);
      // 3. It must be released for another replica.
      if (plan.do === 'vacate') {
        if (await this.vacate(current, signal)) return this.held(this.observer.observed, leaseDurationMs);
        continue;
      }
      // 4. It is ours to renew, or to take.
      const { identity } = this;
      const outcome = this.isAnother(current) ? 'acquired' : plan.outcome;
      const nowMs = this.clock.now();
      const before = current?.record;
      const next = nextRecord({ identity, leaseDurationMs, nowMs, before, outcome, request });
      const written = await this.observer.write(next, current?.lease, signal);
      if (!written) continue;
      this.ownUid = written.lease.metadata.uid;
      return { outcome, record: written.record };
    }
    throw new TimeoutError(`${this.describe()} was changed by others ${MAX_CONFLICTS} times while we tried`);
  }

  async release(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const current = await this.observer.look(signal);
      if (current?.record.holderIdentity !== this.identity) return false;
      if (await this.vacate(current, signal)) return true;
    }
    throw new TimeoutError(`${this.describe()} was changed by others ${MAX_CONFLICTS} times while we tried`);
  }

  /** As last seen, for references to it. */
  get lease(): Lease | undefined {
    return this.observer.observed?.lease;
  }

  /** Releases while the watch is broken are noticed when it is re-established. */
  onReleased(wake: () => void): () => void {
    return this.releases.onReleased(wake);
  }

  /** Ends the watch. */
  close(): void {
    this.releases.close();
  }

  private decide(
    current: ObservedLease | undefined,
    { deposing, epochAbove = 0 }: LeaseRequest,
    isCoordinated: boolean,
  ): LeaseAttemptPlan {
    const { clock, identity, isYielding, observer } = this;
    const { preferredHolder, strategy } = current?.lease.spec ?? {};
    const found = current && {
      ...{ record: current.record, remainingMs: observer.remainingMs(current), preferredHolder },
      isCoordinated: Boolean(strategy),
    };
    const deleted = observer.heldWhenDeleted;
    const heldWhenDeleted = deleted && { record: deleted.record, remainingMs: observer.remainingMs(deleted) };
    const isFree = !found || found.record.holderIdentity === '' || found.remainingMs <= 0;
    this.freeSinceMs = isFree ? (this.freeSinceMs ?? clock.monotonicNow()) : undefined;
    const freeForMs = clock.monotonicNow() - (this.freeSinceMs ?? clock.monotonicNow());
    const coordination = isCoordinated ? { coordination: { freeForMs, isYielding } } : {};
    return decideLeaseAttempt({ identity, found, heldWhenDeleted, deposing, epochAbove, ...coordination });
  }

  /** A free lease that a coordinator has to assign has no known remaining time: we look again after our pause. */
  private held(found: ObservedLease | undefined, leaseDurationMs: number): LeaseAttempt {
    const current = found ?? this.observer.heldWhenDeleted;
    const remainingMs = current ? this.observer.remainingMs(current) : 0;
    const record = current?.record ?? NOBODY;
    return { outcome: 'held', record, remainingMs: remainingMs > 0 ? remainingMs : leaseDurationMs };
  }

  /** Releases it as client-go does, so that its electors take it at once. Returns whether the write succeeded. */
  private async vacate(
    current: ObservedLease | undefined,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (!current) return true;
    const nobody = { holderIdentity: '', witness: '', leaseDurationSeconds: 1 };
    const free = { ...current.record, ...nobody, renewTime: toRfc3339Micro(this.clock.now()) };
    return (await this.observer.write(free, current.lease, signal)) !== undefined;
  }

  /** Whether it was deleted and recreated, in our name, since we held it. */
  private isAnother(current: ObservedLease | undefined): boolean {
    if (current?.record.holderIdentity !== this.identity) return false;
    return this.ownUid !== undefined && current.lease.metadata.uid !== this.ownUid;
  }

  private isOursNow(): boolean {
    const { observed } = this.observer;
    return observed?.record.holderIdentity === this.identity && this.observer.remainingMs(observed) > 0;
  }
}

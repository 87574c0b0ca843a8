import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339Micro } from '@rollkeeper/machinery/clock';
import type { LeaderElectionRecord, LeaseAttempt, LeaseRequest, ResourceLock } from './resource-lock.js';
import { isDeposed } from './resource-lock.js';

interface HeldLease {
  readonly record: LeaderElectionRecord;
  readonly expiresAtMs: number;
}

/** The store of a lease in memory, on a clock of its own. Shared by the locks of all candidates. */
export class MemoryLease {
  private held: HeldLease | undefined;
  private readonly wakes = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  get record(): LeaderElectionRecord | undefined {
    return this.held?.record;
  }

  /** The current holder; empty if there is none. */
  get holder(): string {
    if (!this.held || this.held.expiresAtMs <= this.clock.monotonicNow()) return '';
    return this.held.record.holderIdentity;
  }

  acquireOrRenew(identity: string, leaseDurationMs: number, request: LeaseRequest = {}): LeaseAttempt {
    const { deposing, epochAbove = 0, witness = '' } = request;
    const nowMs = this.clock.monotonicNow();
    const now = toRfc3339Micro(this.clock.now());
    const before = this.held?.record;
    const isFree = this.holder === '' || this.holder === identity;
    if (this.held && !isFree && !isDeposed(this.held.record, deposing)) {
      return { outcome: 'held', record: this.held.record, remainingMs: this.held.expiresAtMs - nowMs };
    }
    const epoch = before?.leaderTransitions ?? 0;
    const isRenewal = this.holder === identity && epoch > epochAbove;
    const record: LeaderElectionRecord = {
      holderIdentity: identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      acquireTime: isRenewal && before ? before.acquireTime : now,
      renewTime: now,
      leaderTransitions: isRenewal ? epoch : Math.max(epoch, epochAbove) + 1,
      witness,
    };
    this.held = { record, expiresAtMs: nowMs + leaseDurationMs };
    return { outcome: isRenewal ? 'renewed' : 'acquired', record };
  }

  /** Keeps what is stored now. @returns puts it back, as a restored backup does: with its deadlines */
  saved(): () => void {
    const { held } = this;
    return () => (this.held = held);
  }

  release(identity: string): boolean {
    if (this.held?.record.holderIdentity !== identity) return false;
    this.held = { record: { ...this.held.record, holderIdentity: '', witness: '' }, expiresAtMs: 0 };
    for (const wake of [...this.wakes]) wake();
    return true;
  }

  onReleased(wake: () => void): () => void {
    this.wakes.add(wake);
    return () => this.wakes.delete(wake);
  }
}

/** One candidate's lock on a {@link MemoryLease}. Answers at once. */
export class MemoryResourceLock implements ResourceLock {
  constructor(
    private readonly store: MemoryLease,
    readonly identity: string,
  ) {}

  describe(): string {
    return 'memory lease';
  }

  async get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined> {
    signal?.throwIfAborted();
    return this.store.record;
  }

  async tryAcquireOrRenew(leaseDurationMs: number, request: LeaseRequest = {}): Promise<LeaseAttempt> {
    request.signal?.throwIfAborted();
    return this.store.acquireOrRenew(this.identity, leaseDurationMs, request);
  }

  async release(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    return this.store.release(this.identity);
  }

  onReleased(wake: () => void): () => void {
    return this.store.onReleased(wake);
  }
}

import type { Clock } from '@rollkeeper/machinery/clock';
import { nextRecord } from './lease-object.js';
import type { LeaderElectionRecord, LeaseAttempt, LeaseRequest, ResourceLock } from './resource-lock.js';
import { isDeposed } from './resource-lock.js';

/** A lease as its store has it. */
export interface HeldLease {
  readonly record: LeaderElectionRecord;
  /** By the store's monotonic clock. */
  readonly expiresAtMs: number;
}

/** One attempt, as it reaches the store. */
export interface StoreAttempt {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly request: LeaseRequest;
  /** The store's monotonic clock. */
  readonly nowMs: number;
  /** The store's wall clock, epoch milliseconds; for display only. */
  readonly wallMs: number;
}

/** The answer of a store, and the lease after it. Pure; `lua/acquire-1.lua` does the same. */
export function answerAttempt(
  held: HeldLease | undefined,
  { identity, leaseDurationMs, nowMs, request, wallMs }: StoreAttempt,
): { readonly held: HeldLease; readonly answer: LeaseAttempt } {
  const { deposing, epochAbove = 0 } = request;
  const holder = holderAt(held, nowMs);
  const isFree = holder === '' || holder === identity;
  if (held && !isFree && !isDeposed(held.record, deposing))
    return { held, answer: { outcome: 'held', record: held.record, remainingMs: held.expiresAtMs - nowMs } };
  const before = held?.record;
  const isRenewal = holder === identity && (before?.leaderTransitions ?? 0) > epochAbove;
  const outcome = isRenewal ? 'renewed' : 'acquired';
  const record = nextRecord({ identity, leaseDurationMs, nowMs: wallMs, before, outcome, request });
  return { held: { record, expiresAtMs: nowMs + leaseDurationMs }, answer: { outcome, record } };
}

/** Empty if there is none, or its lease has expired. */
function holderAt(held: HeldLease | undefined, nowMs: number): string {
  return held && held.expiresAtMs > nowMs ? held.record.holderIdentity : '';
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
    return holderAt(this.held, this.clock.monotonicNow());
  }

  acquireOrRenew(identity: string, leaseDurationMs: number, request: LeaseRequest = {}): LeaseAttempt {
    const times = { nowMs: this.clock.monotonicNow(), wallMs: this.clock.now() };
    const { answer, held } = answerAttempt(this.held, { identity, leaseDurationMs, request, ...times });
    this.held = held;
    return answer;
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

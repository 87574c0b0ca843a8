import type { FinishedAttempt } from '../../../src/runtime/leader-election/decide-lease-step.js';
import type { HeldTerm } from '../../../src/runtime/leader-election/decide-term.js';
import type { HeldLease } from '../../../src/runtime/leader-election/memory-resource-lock.js';
import type { LeaseAttempt } from '../../../src/runtime/leader-election/resource-lock.js';
import type { LeaderTerm } from '../../../src/runtime/work-queue/index.js';

/** A request whose answer has not arrived: it, or its answer, was lost, or its sender is paused. */
export interface Request {
  readonly sentAtMs: number;
  readonly timeoutMs: number;
  readonly answer: Answer | undefined;
}

export type Answer = LeaseAttempt & { readonly isAfterInterruption: boolean };

export interface Replica {
  readonly identity: string;
  readonly term: HeldTerm | undefined;
  readonly last: FinishedAttempt | undefined;
  readonly epochAbove: number;
  readonly request: Request | undefined;
  /** The leading work, which may outlast its term. */
  readonly work: (LeaderTerm & { readonly hasBegun: boolean }) | undefined;
  readonly isPaused: boolean;
  readonly isSlow: boolean;
  /** Since its term began, the lease was not that of the term for a while. */
  readonly wasInterrupted: boolean;
}

export interface LeaseState {
  readonly replicas: readonly [Replica, Replica];
  readonly held: HeldLease | undefined;
  /** The lease before it was acquired the last time: a store that goes back has it again. */
  readonly before: HeldLease | undefined;
  readonly acquisitions: number;
  /** A request that its sender has given up on, and that still travels. */
  readonly late: { readonly identity: string; readonly epochAbove: number } | undefined;
  readonly queueTerm: LeaderTerm | undefined;
  /** The store has lost something: two may believe that they lead until the next renewal. */
  readonly hasLost: boolean;
  readonly faultsLeft: number;
  readonly wrong: string | undefined;
}

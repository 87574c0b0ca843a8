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

export const SECOND = 1000;
/** Times before this make no difference. */
const LONG_AGO = -5 * SECOND;

export function newReplica(identity: string): Replica {
  return {
    ...{ identity, term: undefined, last: undefined, epochAbove: 0, request: undefined, work: undefined },
    ...{ isPaused: false, isSlow: false, wasInterrupted: false },
  };
}

/** @param slow the index of a replica whose clock does not notice */
export function passed(state: LeaseState, slow?: number): LeaseState {
  const [first, second] = state.replicas;
  const age = (held: HeldLease | undefined): HeldLease | undefined =>
    held && { ...held, expiresAtMs: Math.max(held.expiresAtMs - SECOND, 0) };
  return interrupt({
    ...state,
    replicas: [
      slow === 0 ? { ...first, isSlow: true } : older(first),
      slow === 1 ? { ...second, isSlow: true } : older(second),
    ],
    held: age(state.held),
    before: age(state.before),
  });
}

function older(replica: Replica): Replica {
  const { last, request, term } = replica;
  const earlier = (ms: number): number => Math.max(ms - SECOND, LONG_AGO);
  return {
    ...replica,
    term: term && { ...term, renewedAtMs: earlier(term.renewedAtMs) },
    last: last && { ...last, sentAtMs: earlier(last.sentAtMs), endedAtMs: earlier(last.endedAtMs) },
    request: request && { ...request, sentAtMs: earlier(request.sentAtMs) },
  };
}

/** Notes which terms are not those of the lease any more. */
export function interrupt(state: LeaseState): LeaseState {
  const { held } = state;
  const [first, second] = state.replicas.map((replica) => {
    const { identity, term } = replica;
    if (!term || replica.wasInterrupted) return replica;
    const isOurs =
      held?.record.holderIdentity === identity &&
      held.record.acquireTime === term.acquireTime &&
      held.expiresAtMs > 0;
    return isOurs ? replica : { ...replica, wasInterrupted: true };
  }) as [Replica, Replica];
  return { ...state, replicas: [first, second] };
}

export function spend(state: LeaseState): LeaseState {
  return { ...state, faultsLeft: state.faultsLeft - 1 };
}

export function withReplica(state: LeaseState, index: number, change: Partial<Replica>): LeaseState {
  const [first, second] = state.replicas;
  return index === 0
    ? { ...state, replicas: [{ ...first, ...change }, second] }
    : { ...state, replicas: [first, { ...second, ...change }] };
}

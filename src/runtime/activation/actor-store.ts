import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { UnansweredWrite } from './unanswered-write.js';

/** Identifies one actor. */
export interface ActorId {
  readonly controller: string;
  readonly key: string;
}

/**
 * Proof of holding an actor's lock. The token alone is not enough: it could repeat after the actor's state was
 * forgotten.
 */
export interface LockProof {
  readonly token: number;
  /** Random, new for each activation. */
  readonly owner: string;
}

export type AcquireOutcome =
  | {
      readonly kind: 'acquired';
      readonly token: number;
      readonly mustHaveSeen: ResourceVersions;
      readonly intents: unknown;
      readonly unanswered: readonly UnansweredWrite[];
      /** See `Activation.followsInterruption`. */
      readonly followsInterruption: boolean;
    }
  | { readonly kind: 'held'; readonly retryAfterMs: number }
  /** The stored state was written by a newer release, which we must not misread. */
  | { readonly kind: 'unknown-version'; readonly version: number };

/** State stored when the lock is released. */
export interface FinalState {
  readonly ownWrites: ResourceVersions;
  readonly clearIntents: boolean;
  readonly unanswered: readonly UnansweredWrite[];
  /** The settled ones of those that came with the lock. */
  readonly settled: readonly UnansweredWrite[];
  /** See `Activation.settleInterruption`. */
  readonly isInterruptionSettled: boolean;
  /**
   * The activation succeeded, or leaves its key to the next leader, and every write has its answer: the state is needed
   * only until every cache shows what was written.
   */
  readonly isSettled: boolean;
}

/**
 * Stores locks and state of actors. Every method is atomic, and all times are by the store's own clock. An actor's
 * state expires `idleTtlMs` after its last use, or `settledTtlMs` after a settled activation; with intents,
 * it expires `intentTtlMs` after its last use. It never expires while it is locked. Own writes and causes keep the newest
 * resourceVersion per resource.
 */
export interface ActorStore {
  /**
   * Acquires the lock for `lockDurationMs` with a token greater than all before, but for `Activation.token`'s exception. One that another owner never released leaves an
   * interruption, which stays until a release has settled it.
   */
  acquire(id: ActorId, owner: string, lockDurationMs: number): Promise<AcquireOutcome>;
  /** Returns whether the lock is still ours; if so, it now expires `lockDurationMs` after the store received this. */
  renew(id: ActorId, proof: LockProof, lockDurationMs: number): Promise<boolean>;
  /** Returns whether the lock was still ours; only then is anything stored. */
  release(id: ActorId, proof: LockProof, state: FinalState): Promise<boolean>;
  /** Returns whether the token is still the newest; only then is anything stored. `undefined` clears. */
  storeIntents(
    id: ActorId,
    proof: LockProof,
    intents: unknown,
    ownWrites: ResourceVersions,
  ): Promise<boolean>;
  /**
   * Works whether or not the actor is locked. State that would expire sooner stays for `settledTtlMs`, or for `idleTtlMs` with
   * unanswered writes. @param unanswered kept until a holder of the lock has settled them.
   * @default none
   */
  recordCauses(id: ActorId, causes: ResourceVersions, unanswered?: readonly UnansweredWrite[]): Promise<void>;
}

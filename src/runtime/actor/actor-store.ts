import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { UnansweredWrite } from './unanswered-write.js';

/** Names one actor. */
export interface ActorId {
  readonly controller: string;
  readonly key: string;
}

/** Proof of holding an actor's lock. The token alone could occur again after everything about the actor was forgotten. */
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
    }
  | { readonly kind: 'held'; readonly retryAfterMs: number }
  /** The stored state was written by a newer release, which we must not misread. */
  | { readonly kind: 'unknown-version'; readonly version: number };

/** What is stored when the lock is released. */
export interface FinalState {
  readonly ownWrites: ResourceVersions;
  readonly clearIntents: boolean;
  readonly unanswered: readonly UnansweredWrite[];
  /** Of those that the lock came with, which are settled. */
  readonly settled: readonly UnansweredWrite[];
}

/**
 * Where locks and states of actors live. Every method is atomic, and all times are by the store's own clock. What is
 * kept of an actor vanishes `idleTtlMs` after it was touched last, but never while it is locked or has intents.
 * Own writes and causes keep the newest resourceVersion per resource.
 */
export interface ActorStore {
  /** Takes the lock for `lockDurationMs` under a token greater than all before. */
  acquire(id: ActorId, owner: string, lockDurationMs: number): Promise<AcquireOutcome>;
  /** Whether the lock is still ours; it now lasts `lockDurationMs` from when the store saw this. */
  renew(id: ActorId, proof: LockProof, lockDurationMs: number): Promise<boolean>;
  /** Whether the lock was still ours; only then is anything stored. */
  release(id: ActorId, proof: LockProof, state: FinalState): Promise<boolean>;
  /** Whether the token is still the newest; only then is anything stored. `undefined` clears. */
  storeIntents(
    id: ActorId,
    proof: LockProof,
    intents: unknown,
    ownWrites: ResourceVersions,
  ): Promise<boolean>;
  /** Whether or not the actor is locked. @param unanswered kept until a holder of the lock has settled them. @default none */
  recordCauses(id: ActorId, causes: ResourceVersions, unanswered?: readonly UnansweredWrite[]): Promise<void>;
  /** Does nothing while the actor is locked. */
  forget(id: ActorId): Promise<void>;
}

import { newestOfEach } from '@rollkeeper/machinery/kubernetes';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { ActorState } from './activation.js';
import type { FinalState, LockProof } from './actor-store.js';

/** The lock of an actor, as its store has it. Times are of the store's monotonic clock. */
export interface StoredLock {
  /** Absent until the first activation. */
  readonly token: number | undefined;
  readonly owner: string | undefined;
  readonly lockedUntilMs: number;
}

/** How long another owner may still have the lock, milliseconds; 0 if it is free. */
export function lockedForMs({ lockedUntilMs, owner }: StoredLock, nowMs: number): number {
  return owner === undefined ? 0 : Math.max(lockedUntilMs - nowMs, 0);
}

/** Whether the holder of a lock that is acquired now has never released it. */
export function isInterrupted({ owner }: StoredLock): boolean {
  return owner !== undefined;
}

/** The lock once `owner` has acquired it. @param newestToken of all locks of the store, this one's included */
export function acquiredLock(
  newestToken: number,
  owner: string,
  nowMs: number,
  lockDurationMs: number,
): StoredLock & { readonly token: number } {
  return { token: newestToken + 1, owner, lockedUntilMs: nowMs + lockDurationMs };
}

/** Whether the proof still counts: no other owner has acquired the lock since. An expired lock that is untouched does count. */
export function isProvenBy(lock: StoredLock | undefined, proof: LockProof): boolean {
  return lock?.token === proof.token && lock.owner === proof.owner;
}

export function renewedLock<Lock extends StoredLock>(
  lock: Lock,
  nowMs: number,
  lockDurationMs: number,
): Lock {
  return { ...lock, lockedUntilMs: nowMs + lockDurationMs };
}

export function releasedLock<Lock extends StoredLock>(lock: Lock): Lock {
  return { ...lock, owner: undefined };
}

type StoredState = Pick<ActorState, 'version' | 'ownWrites' | 'intents'>;

/** The state that an activation leaves with its release. */
export function stateAfterRelease(state: StoredState, final: FinalState): StoredState {
  return {
    version: 1,
    ownWrites: newestOfEach(state.ownWrites, final.ownWrites),
    intents: final.clearIntents ? undefined : state.intents,
  };
}

/** The state with new intents. The versions that settled the former ones are stored in the same step. */
export function stateWithIntents(
  state: StoredState,
  intents: unknown,
  ownWrites: ResourceVersions,
): StoredState {
  return { version: 1, ownWrites: newestOfEach(state.ownWrites, ownWrites), intents };
}

/** The versions that the caches of the next activation must show: the causes of its run, and own writes. */
export function mustHaveSeenOf(causes: ResourceVersions, { ownWrites }: StoredState): ResourceVersions {
  return newestOfEach(causes, ownWrites);
}

import type { AcquireOutcome } from './actor-store.js';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { UnansweredWrite } from './unanswered-write.js';

/**
 * What an actor keeps between activations, on whichever replica they run. Versioned, so that replicas of two
 * releases can run side by side.
 */
export interface ActorState {
  readonly version: 1;
  /** The newest resourceVersion that this key's activations have written, or settled their intents by, by resource. */
  readonly ownWrites: ResourceVersions;
  /** Reconciler's own: see `Activation.intents`. JSON. */
  readonly intents: unknown;
  /** See `Activation.unanswered`. A release that does not know of them leaves them alone. */
  readonly unanswered?: readonly UnansweredWrite[];
}

/** One exclusive run on one key. */
export interface Activation {
  readonly controller: string;
  readonly key: string;
  /** Fencing token: grows with every activation of the key. */
  readonly token: number;
  /** Aborts with KeyLockLostError before the lock can have expired, and with SyncTimeoutError when the time is over. */
  readonly signal: AbortSignal;
  /**
   * Every write must ask this first, right before it is sent: after a pause of the process the signal may be late.
   * @throws the signal's reason, or KeyLockLostError when the lock may have expired or was let go
   */
  assertHeld(): void;
  /** What the caches must show before anything is decided: changes that caused this run, and own writes. */
  readonly mustHaveSeen: ResourceVersions;
  /** The intents stored last, `undefined` when none are. */
  readonly intents: unknown;
  /**
   * Stores intents before they are acted upon, durably, checked against the token; `undefined` clears them.
   * @throws KeyLockLostError when the token is no longer the newest
   */
  storeIntents(intents: unknown): Promise<void>;
  /** Clears the intents with the release instead of by a call of its own. Does nothing once the signal has aborted. */
  clearIntentsOnRelease(): void;
  /**
   * Remembers a write of ours, or a state that shows what became of one; stored with the release (and with `storeIntents`), or at
   * once if that is over.
   */
  recordOwnWrite(qualifiedResource: string, resourceVersion: string): void;
  /**
   * Writes of earlier activations of which nobody knows whether they were stored; nothing may be decided before they are
   * settled. In no order.
   */
  readonly unanswered: readonly UnansweredWrite[];
  /** Notes a write of ours that came to no answer; stored with the release, or at once if that is over. */
  noteUnanswered(write: UnansweredWrite): void;
  /**
   * One of `unanswered` is settled, and is forgotten with the release.
   * @param resourceVersion of the object as it is now; becomes an own write and part of `mustHaveSeen`
   */
  settleUnanswered(write: UnansweredWrite, resourceVersion?: string): void;
}

/** A lock that was asked for before the activation, in one step with something else. */
export interface EarlyAcquisition {
  /** Random, of this attempt. */
  readonly owner: string;
  /** Monotonic clock, before it was sent. */
  readonly sentAtMs: number;
  readonly outcome: AcquireOutcome;
}

/** How long the work of one activation may take. */
export interface WorkLimit {
  /** Then its signal aborts with SyncTimeoutError, milliseconds. */
  readonly timeoutMs: number;
  /**
   * Work that goes on for so long after its signal has aborted, for whatever reason, is left to itself, milliseconds: the lock is
   * let go, and nothing that the activation offers works any more. Must be more than a write can be under way, so
   * that none of it is when somebody else begins.
   */
  readonly graceMs: number;
  /** Called when the signal has aborted because the time is over. */
  readonly onTimeout?: () => void;
}

export interface ActivateOptions {
  /** The lock, where it was asked for already; let go in any case. */
  readonly early?: EarlyAcquisition;
  /** @default none: work that never ends keeps its key for as long as the process lives */
  readonly limit?: WorkLimit;
}

/**
 * Runs activations: one at a time per controller and key, over all replicas.
 * The lock lives in Redis: taken in one script (token + 1, owner, expiry by the server's clock, state comes back),
 * renewed meanwhile, let go in one script that stores the state, both checked against the token.
 */
export interface ActorRuntime {
  /**
   * @throws KeyLockHeldError when another activation of the key holds the lock (with `retryAfterMs`)
   * @throws KeyLockLostError when the lock was lost before `work` ended
   * @throws SyncTimeoutError when the work took longer than its limit, however it ended
   */
  activate<R>(
    controller: string,
    key: string,
    signal: AbortSignal,
    work: (activation: Activation) => Promise<R>,
    options?: ActivateOptions,
  ): Promise<R>;
  /** The leader's record that changes at these versions concern the key; keeps the newest of each resource. */
  recordCauses(controller: string, key: string, causes: ResourceVersions): Promise<void>;
  /** Drops everything stored for a key whose object is gone. Does nothing while the key is locked. */
  forget(controller: string, key: string): Promise<void>;
}

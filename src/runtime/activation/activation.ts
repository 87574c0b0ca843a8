import type { AcquireOutcome, FinalState, LockProof } from './actor-store.js';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { UnansweredWrite } from './unanswered-write.js';

/**
 * State that an actor keeps between activations, across replicas. Versioned, so that replicas of two releases can run
 * side by side.
 */
export interface ActorState {
  readonly version: 1;
  /**
   * By resource, the newest resourceVersion that this key's activations have written, or that settled their intents.
   */
  readonly ownWrites: ResourceVersions;
  /** The reconciler's own: see `Activation.intents`. JSON. */
  readonly intents: unknown;
  /** See `Activation.unanswered`. Older releases ignore them. */
  readonly unanswered?: readonly UnansweredWrite[];
}

/** One exclusive run on one key. */
export interface Activation {
  readonly controller: string;
  readonly key: string;
  /**
   * Fencing token: increases with every activation of the key, also after the store has forgotten the key. There is one exception: if
   * Redis has forgotten the key, and its clock went back meanwhile, the token may be smaller than one before. None that is older
   * is still in use then, and the store never takes a former one for the newest.
   */
  readonly token: number;
  /** Aborts with KeyLockLostError before the lock can have expired, and with SyncTimeoutError at the time limit. */
  readonly signal: AbortSignal;
  /**
   * Must be called right before every write is sent: after a pause of the process the signal may be late.
   * @throws the signal's reason, or KeyLockLostError if the lock may have expired or was released
   */
  assertHeld(): void;
  /** The versions that the caches must show before any decision: changes that caused this run, and own writes. */
  readonly mustHaveSeen: ResourceVersions;
  /** The last stored intents, `undefined` if there are none. */
  readonly intents: unknown;
  /**
   * Stores intents durably, checked against the token, before they are acted upon; `undefined` clears them.
   * @throws KeyLockLostError if the token is no longer the newest
   */
  storeIntents(intents: unknown): Promise<void>;
  /** Clears the intents with the release instead of a separate call. No-op once the signal has aborted. */
  clearIntentsOnRelease(): void;
  /**
   * Records a write of ours, or a version that shows its outcome; stored with the release (and with `storeIntents`), or
   * at once after it.
   */
  recordOwnWrite(qualifiedResource: string, resourceVersion: string): void;
  /** Writes of earlier activations with an unknown outcome; settle them before any decision. Unordered. */
  readonly unanswered: readonly UnansweredWrite[];
  /** Records a write of ours without an answer; stored with the release, or at once after it. */
  noteUnanswered(write: UnansweredWrite): void;
  /**
   * Marks one of `unanswered` as settled; it is removed with the release.
   * @param resourceVersion the object's current one; becomes an own write and part of `mustHaveSeen`
   */
  settleUnanswered(write: UnansweredWrite, resourceVersion?: string): void;
  /**
   * Whether an earlier activation may have written what no process knows: it never released its lock, since its process died or
   * was cut off, and no activation has found out since. Its last writes may be missing in `mustHaveSeen`.
   */
  readonly followsInterruption: boolean;
  /** The writes of the interrupted activation are known now, and are own writes; stored with the release. */
  settleInterruption(): void;
}

/** A lock requested before the activation, in one step with something else. */
export interface EarlyAcquisition {
  /** Random, unique to this attempt. */
  readonly owner: string;
  /** Monotonic clock, before the request was sent. */
  readonly sentAtMs: number;
  readonly outcome: AcquireOutcome;
  /** Takes over the release after work that succeeded. @default the activation releases the lock before it returns */
  readonly releaseLater?: (release: LateRelease) => void;
}

/** A release that happens together with the end of the key's run. One of the methods is called, once. */
export interface LateRelease {
  readonly proof: LockProof;
  readonly state: FinalState;
  /** After the release was refused because the lock was lost: what the next activation must have seen is kept. */
  refused(): Promise<void>;
  /** Releases the lock. @throws KeyLockLostError if it was lost */
  alone(): Promise<void>;
}

/** Time limits for the work of one activation. */
export interface WorkLimit {
  /** Time until its signal aborts with SyncTimeoutError, milliseconds. */
  readonly timeoutMs: number;
  /**
   * Work that continues this long after its signal has aborted, for any reason, is abandoned, milliseconds: the lock is
   * released, and the activation's methods stop working. Must exceed the duration of a write, so that none is in flight
   * when another worker begins.
   */
  readonly graceMs: number;
  /** Called when the signal has aborted because of the time limit. */
  readonly onTimeout?: () => void;
}

export interface ActivateOptions {
  /** The lock, if it was requested already; always released. */
  readonly early?: EarlyAcquisition;
  /** @default none: work that never ends keeps its key as long as the process lives */
  readonly limit?: WorkLimit;
}

/**
 * Runs activations: one at a time per controller and key, across all replicas. The lock is in Redis. One script
 * acquires it (token + 1, owner, expiry by the server's clock) and returns the state. It is renewed while the work
 * runs, and another script stores the state and releases it. Both check the token.
 */
export interface ActorRuntime {
  /**
   * @throws KeyLockHeldError if another activation of the key holds the lock (with `retryAfterMs`)
   * @throws KeyLockLostError if the lock was lost before `work` ended
   * @throws SyncTimeoutError if the work exceeded its time limit, however it ended
   */
  activate<R>(
    controller: string,
    key: string,
    signal: AbortSignal,
    work: (activation: Activation) => Promise<R>,
    options?: ActivateOptions,
  ): Promise<R>;
  /** Recorded by the leader: changes at these versions concern the key. Keeps the newest of each resource. */
  recordCauses(controller: string, key: string, causes: ResourceVersions): Promise<void>;
}

/** Who holds the lease. Times are of the store's clock and for show only: nobody decides by them. */
export interface LeaderElectionRecord {
  /** Empty after a release. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** RFC 3339 with microseconds. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** Grows each time another holder takes over: the fencing epoch. */
  readonly leaderTransitions: number;
}

/** Outcome of one attempt. `held` tells who has it and how long it can still last (milliseconds). */
export type LeaseAttempt =
  | { readonly outcome: 'acquired' | 'renewed'; readonly record: LeaderElectionRecord }
  | { readonly outcome: 'held'; readonly record: LeaderElectionRecord; readonly remainingMs: number };

/**
 * Where the lease lives. Implementations decide one attempt atomically; loops, deadlines and callbacks are the
 * elector's.
 */
export interface ResourceLock {
  readonly identity: string;
  /** For logs: `redis lease rollkeeper:leader`. */
  describe(): string;
  get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined>;
  /** client-go's `tryAcquireOrRenew`: renews if we hold it, takes it if it is free or expired, else says who holds it. */
  tryAcquireOrRenew(leaseDurationMs: number, signal?: AbortSignal): Promise<LeaseAttempt>;
  /** Gives up a lease that is ours and wakes the others. Returns whether it was ours. */
  release(signal?: AbortSignal): Promise<boolean>;
  /** Calls `wake` when somebody released the lease. Returns the unsubscribe. */
  onReleased(wake: () => void): () => void;
}

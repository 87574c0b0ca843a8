/** The content of a lease. Times are of the store's clock and for display only: decisions never use them. */
export interface LeaderElectionRecord {
  /** Empty after a release. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** RFC 3339 with microseconds. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** Grows each time another holder takes over: the fencing epoch. */
  readonly leaderTransitions: number;
  /** The place at which the holder can be seen, see `HolderWitness`; empty: nowhere. */
  readonly witness: string;
}

/**
 * Outcome of one attempt. `held` has the record of the holder, and how long its lease can still last (milliseconds).
 */
export type LeaseAttempt =
  | { readonly outcome: 'acquired' | 'renewed'; readonly record: LeaderElectionRecord }
  | { readonly outcome: 'held'; readonly record: LeaderElectionRecord; readonly remainingMs: number };

/** A holder that was found dead: the lease is taken from it although it has not expired. */
export type DeposedHolder = Pick<LeaderElectionRecord, 'holderIdentity' | 'leaderTransitions' | 'witness'>;

export interface LeaseRequest {
  readonly signal?: AbortSignal | undefined;
  /** The place at which we can be seen, for the record; kept until our next request. @default nowhere */
  readonly witness?: string | undefined;
  /**
   * Take the lease from this holder, provided that it is still in this very epoch and has not changed where it can be
   * seen. @default none
   */
  readonly deposing?: DeposedHolder | undefined;
  /** The next epoch must be greater than this: a lease of our own with an older one is acquired again. @default any */
  readonly epochAbove?: number | undefined;
}

/**
 * Storage of the lease. Implementations decide one attempt atomically; loops, deadlines and callbacks are the
 * elector's.
 */
export interface ResourceLock {
  readonly identity: string;
  /**
   * Whether an answer tells exactly when the lease ends unless it is renewed, and followers are notified of a release
   * even after a broken connection: then they ask seldom. @default false
   */
  readonly knowsItsEnd?: boolean;
  /** For logs: `redis lease rollkeeper:leader`. */
  describe(): string;
  get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined>;
  /**
   * client-go's `tryAcquireOrRenew`: renews if we hold it, takes it if it is free or expired, otherwise returns the
   * holder.
   */
  tryAcquireOrRenew(leaseDurationMs: number, request?: LeaseRequest): Promise<LeaseAttempt>;
  /** Releases a lease that is ours and wakes the others. Returns whether it was ours. */
  release(signal?: AbortSignal): Promise<boolean>;
  /** Calls `wake` when the lease was released. Returns the unsubscribe. */
  onReleased(wake: () => void): () => void;
}

/** Whether the request allows taking the lease in this record from its holder. */
export function isDeposed(
  { holderIdentity, leaderTransitions, witness }: LeaderElectionRecord,
  deposing: DeposedHolder | undefined,
): boolean {
  if (!deposing || deposing.witness === '') return false;
  return (
    holderIdentity === deposing.holderIdentity &&
    leaderTransitions === deposing.leaderTransitions &&
    witness === deposing.witness
  );
}

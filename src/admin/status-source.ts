/** What a replica says of itself on `/admin/status`. */
export interface ReplicaStatus {
  readonly identity: string;
  readonly version: string;
  readonly leader: boolean;
  /** Who leads as far as this replica knows. */
  readonly leaderIdentity?: string;
  /** The fencing epoch that this replica has seen last. */
  readonly epoch?: number;
  readonly controllers: readonly {
    readonly name: string;
    readonly workers: number;
    readonly consuming: boolean;
    readonly queue?: {
      readonly waiting: number;
      readonly active: number;
      readonly delayed: number;
      readonly parked: number;
    };
  }[];
  readonly informers: readonly {
    readonly resource: string;
    readonly synced: boolean;
    readonly resourceVersion?: string;
    readonly objects: number;
  }[];
}

/** Who led, as far as this replica saw it: `/admin/leadership`. */
export interface LeadershipStatus {
  readonly leader: boolean;
  /** The identity in the lease; empty while it is free. */
  readonly leaderIdentity: string;
  readonly epoch: number;
  /** Where the lease is, for people. */
  readonly lock: string;
  /** The last 100, oldest first. */
  readonly transitions: readonly {
    readonly who: string;
    readonly epoch: number;
    readonly why: string;
    /** RFC 3339. */
    readonly at: string;
  }[];
}

export interface StatusSource {
  leadership(): LeadershipStatus;
  status(): Promise<ReplicaStatus>;
}

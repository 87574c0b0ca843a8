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

export interface StatusSource {
  status(): Promise<ReplicaStatus>;
}

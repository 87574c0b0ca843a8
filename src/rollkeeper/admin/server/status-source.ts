import type { UnreadableResource } from '@rollkeeper/runtime/controller';

/** The shared store, as seen by this replica. */
export interface StoreView {
  /** `redis`, or `memory`. */
  readonly name: string;
  readonly answers: boolean;
  /** When it last answered, epoch milliseconds; only with `answers: false`. */
  readonly silentSinceMs?: number;
  /** The work that continues and the work that does not; only with `answers: false`. */
  readonly meanwhile?: string;
}

/** A replica's report on `/admin/status`. */
export interface ReplicaStatus {
  readonly identity: string;
  readonly version: string;
  readonly leader: boolean;
  /** The leader, as far as this replica knows. */
  readonly leaderIdentity?: string;
  /** The last fencing epoch that this replica has seen. */
  readonly epoch?: number;
  /** Whether the shared store answers. Absent if only the replica's own parts were queried. */
  readonly store?: StoreView;
  readonly controllers: readonly {
    readonly name: string;
    readonly workers: number;
    readonly consuming: boolean;
    /** `leader`: only the leader takes keys. */
    readonly worksOn: 'all' | 'leader';
    /** The resources that it cannot list and does not start without. */
    readonly waitsFor: readonly UnreadableResource[];
    /** The resources that it cannot read, and works without or from an older state. */
    readonly unreadable: readonly UnreadableResource[];
    /** Its own figures. */
    readonly figures?: Readonly<Record<string, number>>;
    readonly queue?: {
      readonly waiting: number;
      readonly active: number;
      readonly delayed: number;
      readonly parked: number;
    };
  }[];
  /** Absent: this replica takes no slots. */
  readonly slots?: {
    /** The number of slots of the installation. */
    readonly count: number;
    /** How many of them this replica works on. */
    readonly owned: number;
    readonly standby: number;
    /** How many no replica works on; on the leader alone. */
    readonly unowned?: number;
  };
  readonly informers: readonly {
    readonly resource: string;
    readonly synced: boolean;
    readonly resourceVersion?: string;
    readonly objects: number;
    /** Why it cannot be listed or watched. */
    readonly trouble?: string;
  }[];
}

/** Past and present leaders, as far as this replica saw them: `/admin/leadership`. */
export interface LeadershipStatus {
  readonly leader: boolean;
  /** The identity in the lease; empty while it is free. */
  readonly leaderIdentity: string;
  readonly epoch: number;
  /** Description of where the lease is. */
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

/** Provides both; a class, so that it is its own injection token. */
export abstract class StatusSource {
  abstract leadership(): LeadershipStatus;
  abstract status(): Promise<ReplicaStatus>;
}

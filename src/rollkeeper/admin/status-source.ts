import type { UnreadableResource } from '@rollkeeper/runtime/controller';

/** What the replicas share their queues and the lease in, as this replica finds it. */
export interface StoreView {
  /** `redis`, or `memory`. */
  readonly name: string;
  readonly answers: boolean;
  /** When it answered last, epoch milliseconds; with `answers: false` alone. */
  readonly silentSinceMs?: number;
  /** What goes on and what does not; with `answers: false` alone. */
  readonly meanwhile?: string;
}

/** What a replica says of itself on `/admin/status`. */
export interface ReplicaStatus {
  readonly identity: string;
  readonly version: string;
  readonly leader: boolean;
  /** Who leads as far as this replica knows. */
  readonly leaderIdentity?: string;
  /** The fencing epoch that this replica has seen last. */
  readonly epoch?: number;
  /** Whether what the replicas share answers. Absent where only the replica's own parts were asked. */
  readonly store?: StoreView;
  readonly controllers: readonly {
    readonly name: string;
    readonly workers: number;
    readonly consuming: boolean;
    /** `leader`: only the replica that leads takes keys. */
    readonly worksOn: 'all' | 'leader';
    /** What it cannot list and does not start without. */
    readonly waitsFor: readonly UnreadableResource[];
    /** What it cannot read, and does without or knows from before. */
    readonly unreadable: readonly UnreadableResource[];
    /** What it counts about itself. */
    readonly figures?: Readonly<Record<string, number>>;
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
    /** Why it cannot be listed or watched. */
    readonly trouble?: string;
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

/** Answers both; a class, so that it is its own injection token. */
export abstract class StatusSource {
  abstract leadership(): LeadershipStatus;
  abstract status(): Promise<ReplicaStatus>;
}

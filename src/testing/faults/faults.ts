import type { ApiClient } from '@rollkeeper/client/api-client';
import type { CoordinationFactory } from '@rollkeeper/runtime/operator/coordination';
import type { ClusterAccess } from '../cluster/cluster-access.js';
import type { FaultRecord } from './fault-log.js';
import type { FaultRates } from './faults.options.js';
import type { LockMatch } from './losable-locks.js';
import type { NextFault, PlannedFault } from './planned-fault.js';
import type { SteppedClock } from './stepped-clock.js';
import type { LeaseToTake, TakenLease } from './taken-leases.js';
import type { Held, WatchMatch } from './watch-gates.js';

/**
 * Faults between a client and its API server. The client gets `kubeconfig`, `env` or `url` with `ca` and `token` of
 * these in place of the cluster's. All other clients, such as the cluster's own controllers, are unaffected.
 */
export interface Faults extends ClusterAccess, AsyncDisposable {
  /** Faults by chance are the same with the same seed. Name it where a test fails. */
  readonly seed: number;
  /** `KUBECONFIG`, for `child_process` and the like. */
  readonly env: { readonly KUBECONFIG: string };
  /** The API as a client sees it through the faults. */
  readonly client: ApiClient;
  /** The faults that have happened, in their order. */
  readonly log: readonly FaultRecord[];
  /**
   * One or several of the next requests fail. What was asked for first comes first.
   * @throws InvalidOptionError naming the field
   */
  failNext(next: NextFault): PlannedFault;
  /** Faults by chance from now on, in place of those before. @throws InvalidOptionError naming the rate */
  setRates(rates: FaultRates): void;
  /** The watches that there are break. Returns how many. */
  cutWatches(match?: WatchMatch): number;
  /** They end with 410, so that their clients have to list again. Returns how many. */
  expireWatches(match?: WatchMatch): number;
  /**
   * They stay open and say nothing any more; what happens is lost for them. New ones work. Returns how many.
   */
  silenceWatches(match?: WatchMatch): number;
  /** Caches stay as they are: what happens is kept back, and comes in its order once it is released. */
  holdWatches(match?: WatchMatch): Held;
  /** Caches lag by `delayMs` milliseconds until the delay is released. */
  delayWatches(delay: WatchMatch & { readonly delayMs: number }): Held;
  /**
   * Another holder has a Lease of the API, as after a partition. Needs rights on the lease for the token behind the faults.
   * @throws InvalidOptionError if there is no such lease
   */
  takeLease(lease: LeaseToTake): Promise<TakenLease>;
  /** For `createManager({ coordination })`: the same coordination, with locks of keys that {@link loseLocks} can take away. */
  coordination(inner: CoordinationFactory): CoordinationFactory;
  /** The syncs that run lose their lock, as when it could not be renewed in time. Returns which: `controller key`. */
  loseLocks(match?: LockMatch): readonly string[];
  /** For `createManager({ clock })`: wall time that {@link stepClock} moves. */
  readonly clock: SteppedClock;
  /** Puts `clock` forward, or back. Durations do not change. */
  stepClock(ms: number): void;
  /** Everything works again: nothing fails any more, by chance or as asked for, what was kept back comes, leases are free. */
  heal(): Promise<void>;
  /** Heals, and closes every connection. The server behind stays. A second call has the result of the first. */
  stop(): Promise<void>;
}

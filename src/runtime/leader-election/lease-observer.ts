import type { ApiClient } from '@rollkeeper/client/api-client';
import { isAlreadyExists, isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { Lease, sameJson } from '@rollkeeper/machinery/kubernetes';
import { leaseWith, recordOf } from './lease-object.js';
import type { LeaderElectionRecord } from './resource-lock.js';

export type LeaseClient = Pick<ApiClient, 'get' | 'list' | 'watch' | 'create' | 'update'>;

export interface LeaseRef {
  readonly namespace: string;
  readonly name: string;
}

/** A lease as we saw it, and when by our own monotonic clock. */
export interface ObservedLease {
  readonly lease: Lease;
  readonly record: LeaderElectionRecord;
  readonly atMs: number;
}

/**
 * Reads and writes one Lease, and remembers when it was seen to change. Every write names the resourceVersion that it
 * was decided on, so that only one of several concurrent writes succeeds, and a delayed one never does.
 */
export class LeaseObserver {
  private last: ObservedLease | undefined;
  private vanished: ObservedLease | undefined;

  constructor(
    private readonly client: LeaseClient,
    private readonly ref: LeaseRef,
    private readonly clock: Clock,
  ) {}

  /** As last seen. */
  get observed(): ObservedLease | undefined {
    return this.last;
  }

  /**
   * A Lease that was deleted although it was held and had not expired: its holder has not noticed that yet, perhaps.
   * `undefined` once the holder has created it again, or another process has acquired it in a higher epoch.
   */
  get heldWhenDeleted(): ObservedLease | undefined {
    return this.vanished;
  }

  /** Its remaining duration; 0 or less once it has expired. */
  remainingMs({ atMs, record }: ObservedLease): number {
    return atMs + record.leaseDurationSeconds * 1000 - this.clock.monotonicNow();
  }

  /** Reads it; `undefined` if there is none. */
  async look(signal: AbortSignal | undefined): Promise<ObservedLease | undefined> {
    try {
      return this.observe(await this.client.get<Lease>(Lease, this.ref, { signal }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.noteDeletion();
      this.last = undefined;
      return undefined;
    }
  }

  /** `undefined` if another client was faster. Our own lease counts from before the write was sent. */
  async write(
    record: LeaderElectionRecord,
    before: Lease | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ObservedLease | undefined> {
    const sentAtMs = this.clock.monotonicNow();
    const next = leaseWith(this.ref, record, before);
    try {
      const lease = before
        ? await this.client.update<Lease>(Lease, next, { signal })
        : await this.client.create<Lease>(Lease, next, { signal });
      this.last = { lease, record: recordOf(lease), atMs: sentAtMs };
      if (record.holderIdentity !== '') this.vanished = undefined;
      return this.last;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || (before && isNotFound(error))) return undefined;
      throw error;
    }
  }

  /** Its holder may have renewed it until it was deleted: it counts from now. One that may last longer is remembered. */
  private noteDeletion(): void {
    const { last, vanished } = this;
    if (!last || last.record.holderIdentity === '') return;
    const deleted = { ...last, atMs: this.clock.monotonicNow() };
    if (!vanished || this.remainingMs(deleted) > this.remainingMs(vanished)) this.vanished = deleted;
  }

  /** Others' leases count from when we saw the change: never earlier than it happened. */
  private observe(lease: Lease): ObservedLease {
    const record = recordOf(lease);
    if (this.last?.lease.metadata.uid !== lease.metadata.uid) this.noteDeletion();
    if (this.vanished && isAfter(this.vanished.record, record)) this.vanished = undefined;
    const isSame = this.last !== undefined && sameJson(this.last.record, record);
    const atMs = isSame && this.last ? this.last.atMs : this.clock.monotonicNow();
    this.last = { lease, record, atMs };
    return this.last;
  }
}

/** Whether the holder of a deleted Lease has created it again, or a process that knew its epoch has acquired it since. */
function isAfter(deleted: LeaderElectionRecord, found: LeaderElectionRecord): boolean {
  if (found.leaderTransitions > deleted.leaderTransitions) return true;
  return found.holderIdentity === deleted.holderIdentity && found.leaseDurationSeconds > 0;
}

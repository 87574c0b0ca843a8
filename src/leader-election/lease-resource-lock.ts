import type { ApiClient } from '../api-client/index.js';
import { isAlreadyExists, isConflict, isNotFound } from '../api-client/index.js';
import type { Clock } from '../clock/index.js';
import { SystemClock, toRfc3339Micro } from '../clock/index.js';
import { InvalidOptionError, TimeoutError } from '../errors/index.js';
import type { Lease } from '../kubernetes/index.js';
import { LEASES } from '../kubernetes/index.js';
import { leaseWith, nextRecord, recordOf } from './lease-object.js';
import { LeaseReleaseWatch } from './lease-release-watch.js';
import type { LeaderElectionRecord, LeaseAttempt, LeaseRequest, ResourceLock } from './resource-lock.js';
import { isDeposed } from './resource-lock.js';

export interface LeaseResourceLockOptions {
  readonly client: Pick<ApiClient, 'get' | 'list' | 'watch' | 'create' | 'update'>;
  /** Who we are: unique to this process, also among its former lives. */
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  /** @default the system's */
  readonly clock?: Clock;
}

/** A lease as we saw it, and when by our own monotonic clock. */
interface Observed {
  readonly lease: Lease;
  readonly record: LeaderElectionRecord;
  readonly atMs: number;
}

/** Others were quicker so often in one attempt: it has failed, and the elector's next one comes soon. */
const MAX_CONFLICTS = 5;

/**
 * The lease as a `coordination.k8s.io` Lease, for who wants no Redis for it. Judged as client-go's
 * `tools/leaderelection` does it: nobody believes a time that another machine wrote; a lease is over when it has
 * not changed for its duration *since we saw it change*, by our own monotonic clock. Every write names the
 * resourceVersion that it was decided on, so that of several that come at once one succeeds, and one that was held up on its way
 * none.
 *
 * Different from client-go: the epoch (`leaseTransitions`) also grows when a holder takes its own lease again after
 * it had ended or was released; the first one is 1; and the news of a release comes by a watch.
 */
export class LeaseResourceLock implements ResourceLock {
  readonly identity: string;
  private readonly client: LeaseResourceLockOptions['client'];
  private readonly ref: { readonly namespace: string; readonly name: string };
  private readonly clock: Clock;
  private readonly releases: LeaseReleaseWatch;
  private observed: Observed | undefined;

  /** @throws InvalidOptionError */
  constructor(options: LeaseResourceLockOptions) {
    const { client, clock = new SystemClock(), identity, name, namespace } = options;
    for (const [option, value] of Object.entries({ identity, name, namespace }))
      if (value === '') throw new InvalidOptionError(option, 'is empty');
    this.identity = identity;
    this.client = client;
    this.ref = { namespace, name };
    this.clock = clock;
    this.releases = new LeaseReleaseWatch(client, this.ref, clock);
  }

  describe(): string {
    return `kubernetes lease ${this.ref.namespace}/${this.ref.name}`;
  }

  async get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined> {
    return (await this.look(signal))?.record;
  }

  async tryAcquireOrRenew(leaseDurationMs: number, request: LeaseRequest = {}): Promise<LeaseAttempt> {
    const { deposing, epochAbove = 0, signal } = request;
    signal?.throwIfAborted();
    // 1. What we know is enough while the lease is ours: should it be out of date, the write is refused.
    const known = this.isOursNow() ? this.observed : undefined;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const current = conflicts === 0 && known ? known : await this.look(signal);
      const before = current?.record;
      // 2. Somebody else has it, and it has changed not long ago.
      const remainingMs = current ? this.remainingMs(current) : 0;
      const isHeld = before !== undefined && before.holderIdentity !== '' && remainingMs > 0;
      const isOurs = before?.holderIdentity === this.identity;
      if (isHeld && !isOurs && !isDeposed(before, deposing))
        return { outcome: 'held', record: before, remainingMs };
      // 3. It is ours to renew, or to take.
      const outcome = isHeld && isOurs && before.leaderTransitions > epochAbove ? 'renewed' : 'acquired';
      const { identity } = this;
      const nowMs = this.clock.now();
      const next = nextRecord({ identity, leaseDurationMs, nowMs, before, outcome, request });
      const written = await this.write(next, current?.lease, signal);
      if (written) return { outcome, record: written.record };
    }
    throw new TimeoutError(`${this.describe()} was changed by others ${MAX_CONFLICTS} times while we tried`);
  }

  async release(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const current = await this.look(signal);
      if (current?.record.holderIdentity !== this.identity) return false;
      const now = toRfc3339Micro(this.clock.now());
      // As client-go leaves it, so that its electors take it at once.
      const free = {
        ...{ ...current.record, holderIdentity: '', witness: '' },
        ...{ leaseDurationSeconds: 1, renewTime: now },
      };
      if (await this.write(free, current.lease, signal)) return true;
    }
    throw new TimeoutError(`${this.describe()} was changed by others ${MAX_CONFLICTS} times while we tried`);
  }

  /** As it was seen last, for whoever wants to name it. */
  get lease(): Lease | undefined {
    return this.observed?.lease;
  }

  /** News that is sent while the watch is broken comes when it stands again. */
  onReleased(wake: () => void): () => void {
    return this.releases.onReleased(wake);
  }

  /** Ends the watch. */
  close(): void {
    this.releases.close();
  }

  private isOursNow(): boolean {
    const { observed } = this;
    return observed?.record.holderIdentity === this.identity && this.remainingMs(observed) > 0;
  }

  private remainingMs({ atMs, record }: Observed): number {
    return atMs + record.leaseDurationSeconds * 1000 - this.clock.monotonicNow();
  }

  private async look(signal: AbortSignal | undefined): Promise<Observed | undefined> {
    try {
      return this.observe(await this.client.get<Lease>(LEASES, this.ref, { signal }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.observed = undefined;
      return undefined;
    }
  }

  /** Others' leases count from when we saw them change: never earlier than when it happened. */
  private observe(lease: Lease): Observed {
    const record = recordOf(lease);
    const isSame = this.observed !== undefined && isSameRecord(this.observed.record, record);
    const atMs = isSame && this.observed ? this.observed.atMs : this.clock.monotonicNow();
    this.observed = { lease, record, atMs };
    return this.observed;
  }

  /** `undefined` when somebody else was quicker. Our own lease counts from before the write was sent. */
  private async write(
    record: LeaderElectionRecord,
    before: Lease | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Observed | undefined> {
    const sentAtMs = this.clock.monotonicNow();
    const next = leaseWith(this.ref, record, before);
    try {
      const lease = before
        ? await this.client.update<Lease>(LEASES, next, { signal })
        : await this.client.create<Lease>(LEASES, next, { signal });
      this.observed = { lease, record: recordOf(lease), atMs: sentAtMs };
      return this.observed;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || (before && isNotFound(error))) return undefined;
      throw error;
    }
  }
}

function isSameRecord(a: LeaderElectionRecord, b: LeaderElectionRecord): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

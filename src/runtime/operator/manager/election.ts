import { Lease, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { EventRecorder } from '@rollkeeper/client/events';
import type {
  LeaderElectionRecord,
  LeaderElectorDependencies,
  LeadershipTransition,
  LeaseCandidacy,
  LeaseResourceLock,
} from '../../leader-election/index.js';
import { LeaderElector } from '../../leader-election/index.js';
import type { Elector } from '../../manager/index.js';

type Work = Parameters<Elector['run']>[0];

export interface ElectionDependencies extends Omit<LeaderElectorDependencies, 'callbacks' | 'onTransition'> {
  /** The Lease as last read, if the lock is one. @default none: events only refer to its name */
  readonly leaseObject?: (() => LeaseResourceLock['lease']) | undefined;
  /** Our candidacy for as long as we campaign. @default no candidacy needed */
  readonly candidacy?: LeaseCandidacy | undefined;
  readonly events: EventRecorder;
  /** The Lease that our events refer to, even if the lease itself is elsewhere and no such object exists. */
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** The manager's view of the {@link LeaderElector}: the leading work is passed to `run`. */
export class Election implements Elector {
  private work: Work = () => Promise.resolve();
  private readonly elector: LeaderElector;

  constructor(private readonly dependencies: ElectionDependencies) {
    this.elector = new LeaderElector({
      ...dependencies,
      callbacks: {
        onStartedLeading: (signal, epoch) => this.work(signal, { epoch, holder: dependencies.lock.identity }),
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
      onTransition: (transition) => this.recordEvent(transition),
    });
  }

  get isLeader(): boolean {
    return this.elector.isLeader;
  }

  /** The identity in the lease, see {@link replicaOf}, as far as we have seen; empty: none. */
  get leader(): string {
    return this.elector.leader;
  }

  get epoch(): number {
    return this.elector.epoch;
  }

  /** The last 100 transitions that this replica saw, oldest first. */
  get history(): readonly LeadershipTransition[] {
    return this.elector.history;
  }

  /** A description of where the lease is. */
  get lock(): string {
    return this.dependencies.lock.describe();
  }

  /** The lease as stored. */
  lease(): Promise<LeaderElectionRecord | undefined> {
    return this.dependencies.lock.get();
  }

  checkHealth(): Promise<void> {
    return this.elector.checkHealth();
  }

  async run(work: Work, signal: AbortSignal): Promise<void> {
    this.work = work;
    const standing = new AbortController();
    // The candidate is withdrawn only after the lease is released: a leader must be a candidate.
    const campaign = this.elector.run(signal).finally(() => standing.abort());
    await Promise.all([campaign, this.dependencies.candidacy?.run(standing.signal)]);
  }

  /** Our own transitions, as in client-go's `LeaseLock.RecordEvent`; others record theirs. */
  private recordEvent({ epoch, who, why }: LeadershipTransition): void {
    const { events, lease, leaseObject, lock } = this.dependencies;
    if (who !== lock.identity) return;
    const reference = { apiVersion: apiVersionOf(Lease), kind: Lease.kind, metadata: { ...lease } };
    const what = why === 'started leading' ? 'became leader' : why.replace(/^stopped:/, 'stopped leading:');
    events.record(leaseObject?.() ?? reference, {
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${who} ${what} (epoch ${epoch})`,
    });
  }
}

/** The replica of a lease's holder, without the id of the replica's life. */
export function replicaOf(holderIdentity: string): string {
  return holderIdentity.replace(/_[^_]*$/, '');
}

import { LEASES, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { EventRecorder } from '@rollkeeper/client/events';
import type {
  LeaderElectionRecord,
  LeaderElectorDependencies,
  LeadershipTransition,
  LeaseCandidacy,
  LeaseResourceLock,
} from '../leader-election/index.js';
import { LeaderElector } from '../leader-election/index.js';
import type { Elector } from '../manager/index.js';

type Work = Parameters<Elector['run']>[0];

export interface ElectionDependencies extends Omit<LeaderElectorDependencies, 'callbacks' | 'onTransition'> {
  /** The Lease as it was read last, where the lock is one. @default none: events go by its name alone */
  readonly leaseObject?: (() => LeaseResourceLock['lease']) | undefined;
  /** Stands for the lease for as long as we campaign. @default nobody has to stand */
  readonly candidacy?: LeaseCandidacy | undefined;
  readonly events: EventRecorder;
  /** The Lease that our events are about, also while the lease itself is elsewhere and no such object exists. */
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** The manager's view of the {@link LeaderElector}: the leading work is handed over when it runs. */
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

  /** The identity in the lease, see {@link replicaOf}, as far as we have seen; empty: nobody's. */
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

  /** Where the lease is. */
  get lock(): string {
    return this.dependencies.lock.describe();
  }

  /** The lease as it is in the store. */
  lease(): Promise<LeaderElectionRecord | undefined> {
    return this.dependencies.lock.get();
  }

  checkHealth(): Promise<void> {
    return this.elector.checkHealth();
  }

  async run(work: Work, signal: AbortSignal): Promise<void> {
    this.work = work;
    const standing = new AbortController();
    // Withdrawn from only when the lease is free: who leads is a candidate.
    const campaign = this.elector.run(signal).finally(() => standing.abort());
    await Promise.all([campaign, this.dependencies.candidacy?.run(standing.signal)]);
  }

  /** Of our own transitions, as client-go's `LeaseLock.RecordEvent`; those of others they record themselves. */
  private recordEvent({ epoch, who, why }: LeadershipTransition): void {
    const { events, lease, leaseObject, lock } = this.dependencies;
    if (who !== lock.identity) return;
    const reference = { apiVersion: apiVersionOf(LEASES), kind: LEASES.kind, metadata: { ...lease } };
    const what = why === 'started leading' ? 'became leader' : why.replace(/^stopped:/, 'stopped leading:');
    events.record(leaseObject?.() ?? reference, {
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${who} ${what} (epoch ${epoch})`,
    });
  }
}

/** Of a lease's holder the replica, without the id of the replica's life. */
export function replicaOf(holderIdentity: string): string {
  return holderIdentity.replace(/_[^_]*$/, '');
}

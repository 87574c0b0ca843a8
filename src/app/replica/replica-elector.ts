import type { EventRecorder } from '../../kit/events/index.js';
import type {
  LeaderElectionRecord,
  LeaderElectorDependencies,
  LeadershipTransition,
  LeaseCandidacy,
  LeaseResourceLock,
  RedisResourceLock,
} from '../../kit/leader-election/index.js';
import { LeaderElector } from '../../kit/leader-election/index.js';
import { LEASES, apiVersionOf } from '../../base/kubernetes/index.js';
import type { Elector } from '../../kit/manager/index.js';

type Work = Parameters<Elector['run']>[0];

export interface ReplicaElectorDependencies extends Omit<
  LeaderElectorDependencies,
  'lock' | 'callbacks' | 'onTransition'
> {
  readonly lock: RedisResourceLock | LeaseResourceLock;
  /** Stands for the lease for as long as we campaign. */
  readonly candidacy?: LeaseCandidacy | undefined;
  /** Ends the connections of lock and witness. */
  readonly close: () => void;
  readonly events: EventRecorder;
  /** The Lease that our events are about, also while the lease itself is in Redis and no such object exists. */
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** The manager's view of the {@link LeaderElector}: the leading work is handed over when it runs. */
export class ReplicaElector implements Elector {
  private work: Work = () => Promise.resolve();
  private readonly elector: LeaderElector;

  constructor(private readonly deps: ReplicaElectorDependencies) {
    this.elector = new LeaderElector({
      ...deps,
      callbacks: {
        onStartedLeading: (signal, epoch) => this.work(signal, { epoch, holder: deps.lock.identity }),
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
      onTransition: (transition) => this.recordEvent(transition),
    });
  }

  get isLeader(): boolean {
    return this.elector.isLeader;
  }

  /** The identity in the lease: the replica's, and an id of this life of it. */
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
    return this.deps.lock.describe();
  }

  /** The lease as it is in the store. */
  lease(): Promise<LeaderElectionRecord | undefined> {
    return this.deps.lock.get();
  }

  checkHealth(): Promise<void> {
    return this.elector.checkHealth();
  }

  async run(work: Work, signal: AbortSignal): Promise<void> {
    this.work = work;
    const standing = new AbortController();
    // Withdrawn from only when the lease is free: who leads is a candidate.
    const campaign = this.elector.run(signal).finally(() => standing.abort());
    await Promise.all([campaign, this.deps.candidacy?.run(standing.signal)]);
  }

  close(): void {
    this.deps.close();
  }

  /** Of our own transitions, as client-go's `LeaseLock.RecordEvent`; those of others they record themselves. */
  private recordEvent({ epoch, who, why }: LeadershipTransition): void {
    const { events, lease, lock } = this.deps;
    if (who !== lock.identity) return;
    const reference = { apiVersion: apiVersionOf(LEASES), kind: LEASES.kind, metadata: { ...lease } };
    const what = why === 'started leading' ? 'became leader' : why.replace(/^stopped:/, 'stopped leading:');
    events.record(('lease' in lock && lock.lease) || reference, {
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${who} ${what} (epoch ${epoch})`,
    });
  }
}

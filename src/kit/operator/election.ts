import type { LeaderElectorDependencies } from '../leader-election/index.js';
import { LeaderElector } from '../leader-election/index.js';
import type { Elector } from '../manager/index.js';

type Work = Parameters<Elector['run']>[0];

/** The manager's view of the {@link LeaderElector}: the leading work is handed over when it runs. */
export class Election implements Elector {
  private work: Work = () => Promise.resolve();
  private readonly elector: LeaderElector;

  constructor(dependencies: Omit<LeaderElectorDependencies, 'callbacks'>) {
    this.elector = new LeaderElector({
      ...dependencies,
      callbacks: {
        onStartedLeading: (signal, epoch) => this.work(signal, { epoch, holder: dependencies.lock.identity }),
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
    });
  }

  get isLeader(): boolean {
    return this.elector.isLeader;
  }

  /** Who has the lease, as far as we have seen; empty: nobody. */
  get leader(): string {
    return this.elector.leader;
  }

  get epoch(): number {
    return this.elector.epoch;
  }

  checkHealth(): Promise<void> {
    return this.elector.checkHealth();
  }

  run(work: Work, signal: AbortSignal): Promise<void> {
    this.work = work;
    return this.elector.run(signal);
  }
}

import type { LeaderElectorDependencies, RedisResourceLock } from '../leader-election/index.js';
import { LeaderElector } from '../leader-election/index.js';
import type { Elector } from '../manager/index.js';

type Work = (signal: AbortSignal, epoch: number) => Promise<void>;

/** The manager's view of the {@link LeaderElector}: the leading work is handed over when it runs. */
export class ReplicaElector implements Elector {
  private work: Work = () => Promise.resolve();
  private readonly elector: LeaderElector;

  constructor(
    private readonly lock: RedisResourceLock,
    dependencies: Omit<LeaderElectorDependencies, 'lock' | 'callbacks'>,
  ) {
    const { logger } = dependencies;
    this.elector = new LeaderElector({
      ...dependencies,
      lock,
      callbacks: {
        onStartedLeading: (signal, epoch) => this.work(signal, epoch),
        onStoppedLeading: () => undefined,
        onNewLeader: (leader) => logger?.info('another leader', { leader }),
      },
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

  checkHealth(): Promise<void> {
    return this.elector.checkHealth();
  }

  run(work: Work, signal: AbortSignal): Promise<void> {
    this.work = work;
    return this.elector.run(signal);
  }

  async ping(): Promise<void> {
    await this.lock.get();
  }

  close(): void {
    this.lock.close();
  }
}

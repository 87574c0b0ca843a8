import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import type { LeaderElectionOptions } from './index.js';
import { LeaderElector, MemoryLease, MemoryResourceLock } from './index.js';
import { MemoryHolderWitness, MemoryPresence } from '../../testing/fake-holder-witness.js';
import { FaultyResourceLock, NO_FAULTS } from '../../testing/faulty-resource-lock.js';

/** Candidates for one lease in memory, on one clock. */
export class ElectionHarness {
  readonly clock = new FakeClock();
  readonly lease = new MemoryLease(this.clock);
  readonly presence = new MemoryPresence();

  candidate(identity: string, options?: LeaderElectionOptions): Candidate {
    return new Candidate(this, identity, options);
  }

  /** A candidate that has already won. */
  async leader(options?: LeaderElectionOptions): Promise<Candidate> {
    const candidate = this.candidate('a', options).run();
    await this.clock.advance(0);
    if (!candidate.elector.isLeader) throw new Error('the only candidate does not lead');
    return candidate;
  }

  /** Resolves when all have ended. @throws if one has left a timer behind */
  async stopped(...candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      candidate.lock.faults = NO_FAULTS;
      candidate.endWork();
      candidate.stop.abort();
    }
    await this.clock.advance(10_000);
    await Promise.all(candidates.map(({ running }) => running));
    const { pendingTimers } = this.clock;
    if (pendingTimers > 0) throw new Error(`${pendingTimers} timers outlive their candidate`);
  }
}

/** A candidate whose work ends on abort, or manually. */
export class Candidate {
  /** Its callbacks' calls, in order. */
  readonly log: string[] = [];
  readonly stop = new AbortController();
  readonly lock: FaultyResourceLock;
  readonly witness: MemoryHolderWitness;
  readonly elector: LeaderElector;
  readonly metrics: string[] = [];
  workIgnoresItsSignal = false;
  endWork: (error?: Error) => void = () => undefined;
  signal: AbortSignal | undefined;
  running: Promise<void> = Promise.resolve();

  constructor(
    private readonly world: ElectionHarness,
    identity: string,
    options: LeaderElectionOptions = {},
  ) {
    const { clock, lease, presence } = world;
    this.lock = new FaultyResourceLock(new MemoryResourceLock(lease, identity), clock);
    this.witness = new MemoryHolderWitness(identity, presence);
    this.elector = new LeaderElector({
      lock: this.lock,
      witness: this.witness,
      clock,
      random: new SeededRandom(1),
      options,
      metrics: {
        leading: (isLeading) => this.metrics.push(`leading ${isLeading}`),
        attempt: () => undefined,
        transition: () => this.metrics.push('transition'),
        deposed: () => this.metrics.push('deposed'),
      },
      callbacks: {
        onStartedLeading: (signal, epoch) => this.work(signal, epoch),
        onStoppedLeading: (reason) => this.log.push(`stopped ${reason.name}`),
        onNewLeader: (who) => this.log.push(`leader ${who}`),
      },
    });
  }

  /** Simulates a crash: its connections close, and none of its messages arrive any more. */
  die(): void {
    this.lock.faults = { ...NO_FAULTS, loseRequests: true };
    this.world.presence.hide(this.elector.identity);
  }

  run(): this {
    this.running = this.elector.run(this.stop.signal);
    return this;
  }

  private async work(signal: AbortSignal, epoch: number): Promise<void> {
    this.signal = signal;
    this.log.push(`work ${epoch}`);
    await new Promise<void>((resolve, reject) => {
      this.endWork = (error) => (error ? reject(error) : resolve());
      signal.addEventListener('abort', () => {
        this.log.push(`abort ${(signal.reason as Error).name}`);
        if (!this.workIgnoresItsSignal) resolve();
      });
    });
    this.log.push('work ended');
  }
}

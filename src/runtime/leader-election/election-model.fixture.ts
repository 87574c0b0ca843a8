import type { Clock, TimerHandle } from '../../machinery/clock/index.js';
import { FakeClock, SeededRandom, pause } from '../../machinery/clock/index.js';
import { hasCode } from '../../machinery/errors/index.js';
import type { HolderWitness, LeaderElectionOptions, Sighting } from './index.js';
import { LeaderElector, MemoryLease, MemoryResourceLock } from './index.js';
import type { LeaderAdds, LeaderTerm } from '../work-queue/index.js';
import { MemoryWorkQueue } from '../work-queue/index.js';
import { MemoryHolderWitness, MemoryPresence } from '../../testing/fake-holder-witness.js';
import { FaultyResourceLock, NO_FAULTS } from '../../testing/faulty-resource-lock.js';

/** The clock of a process that can be paused: its timers fire after it resumes, while its time keeps running. */
class PausableClock implements Clock {
  private held: (() => void)[] | undefined;

  constructor(private readonly world: FakeClock) {}

  now(): number {
    return this.world.now();
  }

  monotonicNow(): number {
    return this.world.monotonicNow();
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    let isCancelled = false;
    const timer = this.world.setTimeout(() => this.deliver(() => !isCancelled && callback()), delayMs);
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const timer = this.setTimeout(resolve, delayMs);
      signal?.addEventListener(
        'abort',
        () => {
          timer.cancel();
          reject(signal.reason as Error);
        },
        { once: true },
      );
    });
  }

  readonly deliver = (callback: () => void): void => {
    if (this.held) this.held.push(callback);
    else callback();
  };

  pause(): void {
    this.held ??= [];
  }

  resume(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const callback of held) callback();
  }
}

/** The world that all processes of an election share: time, the lease, a witness, and a queue that leaders add to. */
export class ElectionWorld {
  readonly clock = new FakeClock();
  readonly lease = new MemoryLease(this.clock);
  readonly presence = new MemoryPresence();
  readonly queue = new MemoryWorkQueue({ name: 'test', clock: this.clock });
  /** The terms of the adds that the queue accepted, in order. */
  readonly accepted: LeaderTerm[] = [];
  refused = 0;
  private lives = 0;

  constructor(
    readonly options: LeaderElectionOptions,
    /** How long a term's work continues to add after its abort. */
    readonly workEndsAfterMs: number,
  ) {}

  newLife(): number {
    return ++this.lives;
  }

  /** @throws if adds of an older term, or of two holders of one epoch, were accepted after those of a newer one */
  checkAccepted(): void {
    for (const [index, { epoch, holder }] of this.accepted.entries()) {
      const before = this.accepted[index - 1];
      if (!before) continue;
      if (epoch < before.epoch) throw new Error(`an add of epoch ${epoch} after one of ${before.epoch}`);
      if (epoch === before.epoch && holder !== before.holder)
        throw new Error(`adds of ${holder} and ${before.holder} in epoch ${epoch}`);
    }
    this.accepted.splice(0, this.accepted.length - 1);
  }
}

const ADD_EVERY_MS = 100;
const GIVE_UP_MS = 1000;

/** One process that campaigns, and as leader adds one key after another. */
export class ElectionProcess {
  readonly clock: PausableClock;
  readonly lock: FaultyResourceLock;
  readonly elector: LeaderElector;
  readonly epochs: number[] = [];
  isDead = false;
  private readonly witness: MemoryHolderWitness;
  private isWorking = false;
  private readonly stop = new AbortController();
  private readonly running: Promise<void>;

  constructor(private readonly world: ElectionWorld) {
    const identity = `process-${world.newLife()}`;
    this.clock = new PausableClock(world.clock);
    const { deliver } = this.clock;
    this.lock = new FaultyResourceLock(new MemoryResourceLock(world.lease, identity), world.clock, deliver);
    this.witness = new MemoryHolderWitness(identity, world.presence, deliver);
    this.elector = new LeaderElector({
      lock: this.lock,
      witness: this.behindTheLink(),
      clock: this.clock,
      random: new SeededRandom(identity.length + identity.charCodeAt(identity.length - 1)),
      options: world.options,
      callbacks: {
        onStartedLeading: (signal, epoch) => this.work(signal, { epoch, holder: identity }),
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
    });
    this.running = this.elector.run(this.stop.signal);
  }

  /** Simulates a crash: nothing runs any more, and its connections close; messages already sent still arrive. */
  kill(): void {
    this.isDead = true;
    this.clock.pause();
    this.world.presence.hide(this.elector.identity);
  }

  /** Its connections break while it is alive. */
  breakLink(): void {
    this.witness.breakLink();
  }

  join(): void {
    this.witness.join();
  }

  heal(): void {
    this.lock.faults = NO_FAULTS;
    this.clock.resume();
    this.join();
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.world.clock.advance(10_000 + this.world.workEndsAfterMs);
    await this.running;
  }

  private behindTheLink(): HolderWitness {
    const { witness } = this;
    return {
      get place() {
        return witness.place;
      },
      run: (signal) => witness.run(signal),
      onHidden: (tell) => witness.onHidden(tell),
      look: (identity, place, signal) =>
        this.ask(() => witness.look(identity, place, new AbortController().signal), signal).catch(
          (): Sighting => 'unknown',
        ),
    };
  }

  private async work(signal: AbortSignal, term: LeaderTerm): Promise<void> {
    if (this.isWorking) throw new Error('two terms at once');
    this.isWorking = true;
    this.epochs.push(term.epoch);
    const ends = new AbortController();
    const end = (): void => void this.clock.setTimeout(() => ends.abort(), this.world.workEndsAfterMs);
    signal.addEventListener('abort', end, { once: true });
    try {
      await this.addUntil(ends.signal, term);
    } finally {
      this.isWorking = false;
    }
  }

  private async addUntil(signal: AbortSignal, term: LeaderTerm): Promise<void> {
    const { accepted, queue } = this.world;
    let adds: LeaderAdds | undefined;
    while (!signal.aborted) {
      try {
        adds ??= await this.ask(() => queue.beginTerm(term), signal);
        const { add } = adds;
        await this.ask(async () => {
          await add('ns/key');
          accepted.push(term);
        }, signal);
      } catch (error) {
        if (hasCode(error, 'SUPERSEDED')) {
          this.world.refused += 1;
          throw error;
        }
      }
      await pause(this.clock, ADD_EVERY_MS, signal);
    }
  }

  /** A request over the link, which may get lost. */
  private ask<T>(question: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = this.clock.setTimeout(() => reject(new Error('no answer')), GIVE_UP_MS);
      const giveUp = (): void => reject(new Error('aborted'));
      signal.addEventListener('abort', giveUp, { once: true });
      void this.lock
        .send(question)
        .then(resolve, (error: unknown) =>
          this.clock.deliver(() => reject(error instanceof Error ? error : new Error(String(error)))),
        )
        .finally(() => timer.cancel());
    });
  }
}

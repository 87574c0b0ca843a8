import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock, TimerHandle } from '../clock/index.js';
import { FakeClock, SeededRandom } from '../clock/index.js';
import type { LinkFaults } from '../testing/fake-resource-lock.js';
import {
  FaultyResourceLock,
  MemoryLease,
  MemoryResourceLock,
  NO_FAULTS,
} from '../testing/fake-resource-lock.js';
import { LeaderElector } from './leader-elector.js';

/*
 * What holds for any number of electors, whatever happens to their messages and however long they are paused:
 * 1. at any moment at most one of them believes that it leads;
 * 2. the epochs that leading work is given only grow, over all electors, but for a term that goes on with its lease;
 * 3. an elector never runs the work of two terms at once;
 * 4. once the faults stop and the messages under way have arrived, somebody leads within lease + renew deadline (the
 *    end of a question that was lost) + one retry + the time that old work takes to end.
 */
const LEASE_MS = 2500;
const RENEW_DEADLINE_MS = 1800;
const LONGEST_RETRY_MS = 880;

/** Of a process that can be paused: timers of a paused process fire when it goes on, its clock runs all the same. */
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

class Replica {
  readonly clock: PausableClock;
  readonly lock: FaultyResourceLock;
  readonly elector: LeaderElector;
  readonly epochs: number[] = [];
  isWorking = false;
  private stop = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(world: FakeClock, lease: MemoryLease, identity: string, workEndsAfterMs: number) {
    this.clock = new PausableClock(world);
    this.lock = new FaultyResourceLock(new MemoryResourceLock(lease, identity), world, this.clock.deliver);
    this.elector = new LeaderElector({
      lock: this.lock,
      clock: this.clock,
      random: new SeededRandom(identity.charCodeAt(0)),
      callbacks: {
        onStartedLeading: async (signal, epoch) => {
          if (this.isWorking) throw new Error('two terms at once');
          this.isWorking = true;
          this.epochs.push(epoch);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          await this.clock.sleep(workEndsAfterMs);
          this.isWorking = false;
        },
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
    });
  }

  run(): void {
    this.running = this.elector.run(this.stop.signal);
  }

  async end(world: FakeClock): Promise<void> {
    this.stop.abort();
    await world.advance(LEASE_MS + 5000);
    await this.running;
  }
}

const REPLICAS = 3;

const aLink: fc.Arbitrary<LinkFaults> = fc.oneof(
  fc.constant(NO_FAULTS),
  fc.constant({ ...NO_FAULTS, loseRequests: true }),
  fc.constant({ ...NO_FAULTS, loseAnswers: true }),
  fc.record({
    requestMs: fc.constantFrom(0, 0, 700, 2600),
    answerMs: fc.constantFrom(0, 1500, 1700, 2600),
    loseRequests: fc.constant(false),
    loseAnswers: fc.constant(false),
    loseWakes: fc.boolean(),
  }),
);

const anEvent = fc.record({
  // The holder of the lease has most to lose.
  replica: fc.constantFrom<'holder' | number>('holder', 'holder', ...Array(REPLICAS).keys()),
  afterMs: fc.integer({ min: 0, max: 1500 }),
  change: fc.oneof(fc.constant({ kind: 'pause' as const }), fc.constant({ kind: 'resume' as const }), {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('link' as const), faults: aLink }),
  }),
});

describe('electors among themselves', () => {
  const seed = Number(process.env.FC_SEED ?? randomInt(2 ** 31));

  it(`never lead two at a time, and one leads again when the faults stop (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aLink, { minLength: REPLICAS, maxLength: REPLICAS }),
        fc.array(anEvent, { minLength: 10, maxLength: 30, size: 'max' }),
        fc.constantFrom(0, 300, 3000),
        async (links, events, workEndsAfterMs) => {
          const world = new FakeClock();
          const lease = new MemoryLease(world);
          const replicas = Array.from(
            { length: REPLICAS },
            (_, i) => new Replica(world, lease, String.fromCharCode(97 + i), workEndsAfterMs),
          );
          for (const [i, replica] of replicas.entries()) {
            replica.lock.faults = links[i] ?? NO_FAULTS;
            replica.run();
          }

          for (const { replica, afterMs, change } of events) {
            await advance(world, replicas, afterMs);
            const holder = replicas.find(({ elector }) => elector.identity === lease.holder);
            const hit = replica === 'holder' ? holder : replicas[replica];
            if (hit) apply(hit, change);
          }
          for (const replica of replicas) {
            replica.lock.faults = NO_FAULTS;
            replica.clock.resume();
          }
          // A request that is under way may still take the lease for somebody who is not waiting for it any more.
          const underWayMs = 2600 + 2600;
          const waitMs = underWayMs + LEASE_MS + RENEW_DEADLINE_MS + LONGEST_RETRY_MS + workEndsAfterMs;
          await advance(world, replicas, waitMs);
          expect(replicas.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
          for (const replica of replicas) await replica.end(world);
          expect(lease.holder).toBe('');
        },
      ),
      { seed, numRuns: 150 },
    );
  }, 60_000);
});

/** In small steps, looking at the invariants after each. */
async function advance(world: FakeClock, replicas: readonly Replica[], ms: number): Promise<void> {
  const endMs = world.monotonicNow() + ms;
  while (world.monotonicNow() < endMs) {
    await world.advance(Math.min(50, endMs - world.monotonicNow()));
    const leaders = replicas.filter(({ elector }) => elector.isLeader);
    if (leaders.length > 1) throw new Error(`${leaders.length} leaders at ${world.monotonicNow()}`);
    expectEpochsToGrow(replicas);
  }
}

function expectEpochsToGrow(replicas: readonly Replica[]): void {
  const seen = new Set<number>();
  for (const { epochs } of replicas) {
    for (const [i, epoch] of epochs.entries()) {
      if (epoch < (epochs[i - 1] ?? 0)) throw new Error(`epochs go back: ${epochs.join(', ')}`);
      if (epoch !== epochs[i - 1] && seen.has(epoch)) throw new Error(`epoch ${epoch} was given to two`);
      seen.add(epoch);
    }
  }
}

function apply(replica: Replica, change: { kind: string; faults?: LinkFaults }): void {
  if (change.kind === 'pause') replica.clock.pause();
  else if (change.kind === 'resume') replica.clock.resume();
  else replica.lock.faults = change.faults ?? NO_FAULTS;
}

import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../base/clock/index.js';
import {
  IllegalStateError,
  InvalidOptionError,
  LeaseLostError,
  ShutdownError,
  SupersededError,
} from '../../base/errors/index.js';
import { MemoryHolderWitness, MemoryPresence } from '../../testing/fake-holder-witness.js';
import {
  FaultyResourceLock,
  MemoryLease,
  MemoryResourceLock,
  NO_FAULTS,
} from '../../testing/fake-resource-lock.js';
import type { LeaderElectionOptions } from './leader-election.options.js';
import { LeaderElector } from './leader-elector.js';

const LEASE_MS = 2500;
const RENEW_DEADLINE_MS = 1800;
/** The longest pause of a follower: retry period × (1 + jitter). */
const LONGEST_RETRY_MS = 880;

describe('LeaderElector', () => {
  let clock: FakeClock;
  let lease: MemoryLease;
  let presence: MemoryPresence;

  beforeEach(() => {
    clock = new FakeClock();
    lease = new MemoryLease(clock);
    presence = new MemoryPresence();
  });

  /** A candidate whose work ends when it is told to, or by hand. */
  class Candidate {
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

    constructor(identity: string, options: LeaderElectionOptions = {}) {
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

    /** Its connections close, and nothing that it does reaches anybody any more. */
    die(): void {
      this.lock.faults = { ...NO_FAULTS, loseRequests: true };
      presence.hide(this.elector.identity);
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

  async function aLeader(options: LeaderElectionOptions = {}): Promise<Candidate> {
    const candidate = new Candidate('a', options).run();
    await clock.advance(0);
    expect(candidate.elector.isLeader).toBe(true);
    return candidate;
  }

  async function stopped(...candidates: Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      candidate.lock.faults = NO_FAULTS;
      candidate.endWork();
      candidate.stop.abort();
    }
    await clock.advance(10_000);
    await Promise.all(candidates.map(({ running }) => running));
    expect(clock.pendingTimers).toBe(0);
  }

  it('leads at once when the lease is free, and tells who leads', async () => {
    const a = await aLeader();
    expect(a.log).toEqual(['leader a', 'work 1']);
    expect(a.elector).toMatchObject({ leader: 'a', epoch: 1, identity: 'a' });
    expect(a.metrics).toEqual(['leading false', 'transition', 'leading true']);
    await stopped(a);
  });

  it('keeps the lease for as long as it can renew', async () => {
    const [a, b] = [await aLeader(), new Candidate('b').run()];
    await clock.advance(600_000);
    expect(a.elector.isLeader).toBe(true);
    expect(b.elector.isLeader).toBe(false);
    expect(b.log).toEqual(['leader a']);
    expect(b.elector).toMatchObject({ leader: 'a', epoch: 1 });
    await stopped(a, b);
  });

  it('gives up by its own clock before anybody else can have the lease', async () => {
    const a = await aLeader();
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(RENEW_DEADLINE_MS - 1);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    expect(a.log.slice(2)).toEqual(['abort LeaseLostError', 'work ended', 'stopped LeaseLostError']);
    expect(a.signal?.reason).toBeInstanceOf(LeaseLostError);
    expect(lease.holder).toBe('a');
    await stopped(a);
  });

  it('counts its time from before the request was sent, not from the answer', async () => {
    const a = new Candidate('a');
    a.lock.faults = { ...NO_FAULTS, requestMs: 300, answerMs: 300 };
    a.run();
    await clock.advance(1);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(599);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(RENEW_DEADLINE_MS - 600);
    expect(a.elector.isLeader).toBe(false);
    await stopped(a);
  });

  it('counts a renewal from before its request was sent, too', async () => {
    const a = await aLeader();
    a.lock.faults = { ...NO_FAULTS, answerMs: 1000 };
    // Sent at 400, answered at 1400, and no other comes through.
    await clock.advance(401);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(400 + RENEW_DEADLINE_MS - 402);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    await stopped(a);
  });

  it('lives on after a loss and campaigns again', async () => {
    const a = await aLeader();
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(10_000);
    expect(a.elector.isLeader).toBe(false);
    a.lock.faults = NO_FAULTS;
    await clock.advance(RENEW_DEADLINE_MS + LONGEST_RETRY_MS);
    expect(a.elector.isLeader).toBe(true);
    expect(a.elector.epoch).toBe(2);
    expect(a.log.filter((line) => line.startsWith('work '))).toEqual(['work 1', 'work ended', 'work 2']);
    await stopped(a);
  });

  it('does not campaign before the work of its last term has ended', async () => {
    const a = await aLeader();
    a.workIgnoresItsSignal = true;
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(RENEW_DEADLINE_MS);
    a.lock.faults = NO_FAULTS;
    await clock.advance(60_000);
    expect(a.log.at(-1)).toBe('abort LeaseLostError');
    expect(lease.holder).toBe('');
    a.endWork();
    await clock.advance(LONGEST_RETRY_MS);
    expect(a.log.slice(-3)).toEqual(['work ended', 'stopped LeaseLostError', 'work 2']);
    await stopped(a);
  });

  it('on a clean stop awaits the work, keeping the lease, and then releases it', async () => {
    const a = await aLeader();
    a.workIgnoresItsSignal = true;
    a.stop.abort();
    await clock.advance(30_000);
    expect(a.log.at(-1)).toBe('abort ShutdownError');
    expect(a.signal?.reason).toBeInstanceOf(ShutdownError);
    expect(lease.holder).toBe('a');
    a.endWork();
    await clock.advance(0);
    expect(lease.holder).toBe('');
    expect(a.log.slice(-2)).toEqual(['work ended', 'stopped ShutdownError']);
    await a.running;
    expect(a.elector).toMatchObject({ isLeader: false, leader: '' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('hands over at once: a release wakes the others', async () => {
    const [a, b] = [await aLeader(), new Candidate('b').run()];
    await clock.advance(5000);
    a.stop.abort();
    await clock.advance(0);
    expect(b.elector.isLeader).toBe(true);
    expect(b.log).toEqual(['leader a', 'leader b', 'work 2']);
    await stopped(a, b);
  });

  it('hears of a release while its own question is under way', async () => {
    const [a, b] = [await aLeader(), new Candidate('b')];
    b.lock.faults = { ...NO_FAULTS, answerMs: 100 };
    b.run();
    await clock.advance(50);
    a.stop.abort();
    await clock.advance(150);
    expect(b.elector.isLeader).toBe(true);
    await stopped(a, b);
  });

  it('asks right at the end of the lease that it saw', async () => {
    const [a, b] = [await aLeader(), new Candidate('b').run()];
    await clock.advance(5000);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    // From its last renewal, at most a retry period ago, the lease lasts so long and not longer.
    const since = clock.monotonicNow();
    while (!b.elector.isLeader && clock.monotonicNow() - since <= LEASE_MS) await clock.advance(1);
    expect(b.elector.isLeader).toBe(true);
    expect(lease.record?.leaderTransitions).toBe(2);
    await stopped(a, b);
  });

  it('steps down when it hears that somebody else leads', async () => {
    const a = await aLeader();
    lease.release('a');
    lease.acquireOrRenew('thief', 60_000);
    await clock.advance(400);
    expect(a.elector).toMatchObject({ isLeader: false, leader: 'thief', epoch: 2 });
    expect(a.log.slice(2)).toEqual([
      'leader thief',
      'abort LeaseLostError',
      'work ended',
      'stopped LeaseLostError',
    ]);
    await stopped(a);
  });

  it('begins a new term, with the new epoch, when its lease had ended and is its own again', async () => {
    const a = await aLeader();
    lease.release('a');
    await clock.advance(400);
    expect(a.log.slice(2)).toEqual([
      'abort LeaseLostError',
      'work ended',
      'stopped LeaseLostError',
      'work 2',
    ]);
    expect(a.elector).toMatchObject({ isLeader: true, epoch: 2 });
    await stopped(a);
  });

  it('goes on leading when the work is done', async () => {
    const a = await aLeader();
    a.endWork();
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.log.at(-1)).toBe('work ended');
    await stopped(a);
    expect(a.log.at(-1)).toBe('stopped ShutdownError');
  });

  it('gives the lease to another when its work fails, and campaigns again', async () => {
    const [a, b] = [await aLeader(), new Candidate('b').run()];
    await clock.advance(5000);
    a.endWork(new Error('broken'));
    await clock.advance(0);
    expect(a.log.slice(-1)).toEqual(['stopped Error']);
    expect(b.elector.isLeader).toBe(true);
    b.stop.abort();
    await clock.advance(LONGEST_RETRY_MS);
    expect(a.elector.isLeader).toBe(true);
    await stopped(a, b);
  });

  it('leads with a lease that it won without hearing so', async () => {
    const a = new Candidate('a', { jitterFactor: 0.1 });
    a.lock.faults = { ...NO_FAULTS, loseAnswers: true };
    a.run();
    await clock.advance(100);
    a.lock.faults = NO_FAULTS;
    await clock.advance(RENEW_DEADLINE_MS + LONGEST_RETRY_MS);
    expect(a.log).toEqual(['leader a', 'work 1']);
    await stopped(a);
  });

  it('stops while the store is silent, in bounded time', async () => {
    const a = await aLeader();
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    a.stop.abort();
    await clock.advance(RENEW_DEADLINE_MS);
    await a.running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('is healthy unless it has work of a lease that ended too long ago', async () => {
    const a = await aLeader({ healthToleranceMs: 1000 });
    a.workIgnoresItsSignal = true;
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(LEASE_MS + 1000);
    await expect(a.elector.checkHealth()).resolves.toBeUndefined();
    await clock.advance(1);
    await expect(a.elector.checkHealth()).rejects.toThrow(LeaseLostError);
    a.endWork();
    await clock.advance(60_000);
    await expect(a.elector.checkHealth()).resolves.toBeUndefined();
    await stopped(a);
  });

  describe('when its process dies', () => {
    const NOTICED_WITHIN_MS = 80 * 1.5 + 100;

    /** How long after now it leads. */
    async function untilLeading({ elector }: Candidate): Promise<number> {
      const since = clock.monotonicNow();
      while (!elector.isLeader && clock.monotonicNow() - since < 10_000) await clock.advance(1);
      return clock.monotonicNow() - since;
    }

    async function aPair(options?: LeaderElectionOptions): Promise<[Candidate, Candidate]> {
      const pair: [Candidate, Candidate] = [await aLeader(options), new Candidate('b', options).run()];
      await clock.advance(5000);
      return pair;
    }

    it('is replaced as soon as its connections were gone for the grace, in the next epoch', async () => {
      const [a, b] = await aPair();
      a.die();
      const tookMs = await untilLeading(b);
      expect(tookMs).toBeGreaterThanOrEqual(100);
      expect(tookMs).toBeLessThanOrEqual(NOTICED_WITHIN_MS);
      expect(b.log).toEqual(['leader a', 'leader b', 'work 2']);
      expect(b.metrics).toContain('deposed');
      await stopped(a, b);
    });

    it('is replaced at the end of its lease, where that was chosen', async () => {
      const [a, b] = await aPair({ takeover: 'expiry' });
      a.die();
      expect(await untilLeading(b)).toBeGreaterThan(LEASE_MS - 400 - 1);
      expect(b.witness.looks).toBe(0);
      expect(b.metrics).not.toContain('deposed');
      await stopped(a, b);
    });

    it('is replaced at the end of its lease, where it could not be seen', async () => {
      const [a, b] = await aPair();
      a.witness.breakLink();
      await clock.advance(1000);
      a.die();
      expect(await untilLeading(b)).toBeGreaterThan(LEASE_MS - 400 - 1);
      await stopped(a, b);
    });

    it('is replaced by one of many, and the others follow that one', async () => {
      const a = await aLeader();
      const others = ['b', 'c', 'd'].map((name) => new Candidate(name).run());
      await clock.advance(5000);
      a.die();
      await clock.advance(NOTICED_WITHIN_MS);
      expect(others.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
      await clock.advance(10_000);
      expect(others.map(({ elector }) => elector.epoch)).toEqual([2, 2, 2]);
      await stopped(a, ...others);
    });
  });

  describe('while its process lives', () => {
    it('says at once that it cannot be seen, so that nobody takes it for dead', async () => {
      const [a, b] = [await aLeader(), new Candidate('b').run()];
      await clock.advance(5000);
      a.witness.breakLink();
      await clock.advance(0);
      expect(lease.record?.witness).toBe('');
      await clock.advance(60_000);
      expect(a.elector.isLeader).toBe(true);
      a.witness.join();
      await clock.advance(400);
      expect(lease.record?.witness).toBe(presence.runId);
      await stopped(a, b);
    });

    it('may break all its connections for less than the grace', async () => {
      const [a, b] = [await aLeader(), new Candidate('b').run()];
      await clock.advance(5000);
      for (let count = 0; count < 50; count++) {
        // What it sends meanwhile waits for the next connection.
        a.lock.faults = { ...NO_FAULTS, requestMs: 60 };
        a.witness.breakLink();
        await clock.advance(60);
        a.lock.faults = NO_FAULTS;
        a.witness.join();
        await clock.advance(400);
      }
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 1 });
      await stopped(a, b);
    });

    it('keeps its lease when everybody loses the witness at once, and a new one comes', async () => {
      const [a, b] = [await aLeader(), new Candidate('b').run()];
      await clock.advance(5000);
      // Nobody hears of it: the worst case.
      a.lock.faults = { ...NO_FAULTS, loseRequests: true };
      presence.restart();
      await clock.advance(1000);
      a.lock.faults = NO_FAULTS;
      for (const { witness } of [a, b]) witness.join();
      await clock.advance(10_000);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 1 });
      await stopped(a, b);
    });

    it('is deposed when it could be reached by nobody, and stops as soon as it hears so', async () => {
      const [a, b] = [await aLeader(), new Candidate('b').run()];
      await clock.advance(5000);
      a.lock.faults = { ...NO_FAULTS, loseRequests: true };
      a.witness.breakLink();
      await clock.advance(300);
      expect(b.elector).toMatchObject({ isLeader: true, epoch: 2 });
      a.lock.faults = NO_FAULTS;
      await clock.advance(RENEW_DEADLINE_MS);
      expect(a.elector).toMatchObject({ isLeader: false, leader: 'b' });
      expect(a.signal?.reason).toBeInstanceOf(LeaseLostError);
      await stopped(a, b);
    });
  });

  describe('whose work does not count', () => {
    it('begins again in an epoch that is above the one in its way', async () => {
      const [a, b] = [await aLeader(), new Candidate('b').run()];
      await clock.advance(5000);
      a.endWork(new SupersededError('older than it', { epoch: 41 }));
      await clock.advance(LONGEST_RETRY_MS);
      expect(a.log.slice(-2)).toEqual(['stopped SupersededError', 'work 42']);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 42 });
      expect(b.log).toEqual(['leader a']);
      await clock.advance(60_000);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 42 });
      await stopped(a, b);
    });

    it('begins again in the same epoch where nothing is known of any', async () => {
      const a = await aLeader();
      a.endWork(new SupersededError('nothing known', { epoch: 0 }));
      await clock.advance(LONGEST_RETRY_MS);
      expect(a.log.slice(-2)).toEqual(['stopped SupersededError', 'work 1']);
      await stopped(a);
    });

    it('follows whoever has the lease now', async () => {
      const a = await aLeader();
      lease.acquireOrRenew('b', 60_000, { deposing: lease.record });
      a.endWork(new SupersededError('b leads', { epoch: 2 }));
      await clock.advance(LONGEST_RETRY_MS);
      expect(a.elector).toMatchObject({ isLeader: false, leader: 'b', epoch: 2 });
      await stopped(a);
    });
  });

  it('remembers who led, in which epoch, why and when', async () => {
    const startMs = clock.now();
    const a = await aLeader();
    lease.release('a');
    lease.acquireOrRenew('thief', LEASE_MS);
    await clock.advance(LEASE_MS);
    await stopped(a);
    expect(a.elector.history).toEqual([
      { who: 'a', epoch: 1, why: 'started leading', atMs: startMs },
      // The news of the release makes it look at once.
      { who: 'thief', epoch: 2, why: 'observed', atMs: startMs },
      { who: 'a', epoch: 1, why: 'stopped: somebody else has taken the lease', atMs: startMs },
      { who: 'a', epoch: 3, why: 'started leading', atMs: startMs + LEASE_MS },
      { who: 'a', epoch: 3, why: 'stopped: we are stopping', atMs: startMs + LEASE_MS },
    ]);
  });

  it('remembers the last 100 transitions alone', async () => {
    const a = await aLeader();
    for (let i = 0; i < 60; i++) {
      lease.release('a');
      await clock.advance(400);
    }
    expect(a.elector.history).toHaveLength(100);
    expect(a.elector.history.at(-1)?.epoch).toBe(61);
    await stopped(a);
  });

  it('survives callbacks that throw', async () => {
    const stop = new AbortController();
    const elector = new LeaderElector({
      lock: new MemoryResourceLock(lease, 'a'),
      clock,
      callbacks: {
        onStartedLeading: () => {
          throw new Error('not even a promise');
        },
        onStoppedLeading: () => {
          throw new Error('no');
        },
        onNewLeader: () => {
          throw new Error('no');
        },
      },
    });
    const running = elector.run(stop.signal);
    await clock.advance(5000);
    expect(elector.epoch).toBeGreaterThan(2);
    stop.abort();
    await clock.advance(5000);
    await expect(running).resolves.toBeUndefined();
  });

  it('runs once, and never starts by itself', async () => {
    const a = new Candidate('a');
    await clock.advance(10_000);
    expect(lease.record).toBeUndefined();
    a.run();
    await expect(a.elector.run(a.stop.signal)).rejects.toThrow(IllegalStateError);
    await stopped(a);
  });

  it('refuses options that contradict each other', () => {
    expect(() => new Candidate('a', { leaseDurationMs: 1000 })).toThrow(InvalidOptionError);
  });
});

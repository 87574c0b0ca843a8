import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeClock } from '../../machinery/clock/index.js';
import {
  IllegalStateError,
  InvalidOptionError,
  LeaseLostError,
  ShutdownError,
  SupersededError,
} from '../../machinery/errors/index.js';
import { ElectionHarness } from './election-harness.fixture.js';
import { NO_FAULTS } from '../../testing/faulty-resource-lock.js';
import { LeaderElector } from './leader-elector.js';
import type { MemoryLease } from './memory-resource-lock.js';
import { MemoryResourceLock } from './memory-resource-lock.js';

const LEASE_MS = 2500;
const RENEW_DEADLINE_MS = 1800;
/** The longest pause of a follower: retry period × (1 + jitter). */
const LONGEST_RETRY_MS = 880;

describe('LeaderElector', () => {
  let election: ElectionHarness;
  let clock: FakeClock;
  let lease: MemoryLease;

  beforeEach(() => {
    election = new ElectionHarness();
    ({ clock, lease } = election);
  });

  it('leads at once when the lease is free, and tells who leads', async () => {
    const a = await election.leader();
    expect(a.log).toEqual(['leader a', 'work 1']);
    expect(a.elector).toMatchObject({ leader: 'a', epoch: 1, identity: 'a' });
    expect(a.metrics).toEqual(['leading false', 'transition', 'leading true']);
    await election.stopped(a);
  });

  it('keeps the lease for as long as it can renew', async () => {
    const [a, b] = [await election.leader(), election.candidate('b').run()];
    await clock.advance(600_000);
    expect(a.elector.isLeader).toBe(true);
    expect(b.elector.isLeader).toBe(false);
    expect(b.log).toEqual(['leader a']);
    expect(b.elector).toMatchObject({ leader: 'a', epoch: 1 });
    await election.stopped(a, b);
  });

  it('gives up by its own clock before anybody else can have the lease', async () => {
    const a = await election.leader();
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(RENEW_DEADLINE_MS - 1);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    expect(a.log.slice(2)).toEqual(['abort LeaseLostError', 'work ended', 'stopped LeaseLostError']);
    expect(a.signal?.reason).toBeInstanceOf(LeaseLostError);
    expect(lease.holder).toBe('a');
    await election.stopped(a);
  });

  it('counts its time from before the request was sent, not from the answer', async () => {
    const a = election.candidate('a');
    a.lock.faults = { ...NO_FAULTS, requestMs: 300, answerMs: 300 };
    a.run();
    await clock.advance(1);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(599);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(RENEW_DEADLINE_MS - 600);
    expect(a.elector.isLeader).toBe(false);
    await election.stopped(a);
  });

  it('counts a renewal from before its request was sent, too', async () => {
    const a = await election.leader();
    a.lock.faults = { ...NO_FAULTS, answerMs: 800 };
    // Sent at 400, answered at 1200, and no other comes through.
    await clock.advance(401);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(400 + RENEW_DEADLINE_MS - 402);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    await election.stopped(a);
  });

  it('keeps its term although one renewal hangs: another is sent before the deadline', async () => {
    const a = await election.leader();
    await clock.advance(399);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(1);
    a.lock.faults = NO_FAULTS;
    await clock.advance(RENEW_DEADLINE_MS * 2);
    expect(a.log).toEqual(['leader a', 'work 1']);
    expect(a.elector.isLeader).toBe(true);
    await election.stopped(a);
  });

  it('lives on after a loss and campaigns again', async () => {
    const a = await election.leader();
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(10_000);
    expect(a.elector.isLeader).toBe(false);
    a.lock.faults = NO_FAULTS;
    await clock.advance(RENEW_DEADLINE_MS + LONGEST_RETRY_MS);
    expect(a.elector.isLeader).toBe(true);
    expect(a.elector.epoch).toBe(2);
    expect(a.log.filter((line) => line.startsWith('work '))).toEqual(['work 1', 'work ended', 'work 2']);
    await election.stopped(a);
  });

  it('does not campaign before the work of its last term has ended', async () => {
    const a = await election.leader();
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
    await election.stopped(a);
  });

  it('on a clean stop awaits the work, keeping the lease, and then releases it', async () => {
    const a = await election.leader();
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
    const [a, b] = [await election.leader(), election.candidate('b').run()];
    await clock.advance(5000);
    a.stop.abort();
    await clock.advance(0);
    expect(b.elector.isLeader).toBe(true);
    expect(b.log).toEqual(['leader a', 'leader b', 'work 2']);
    await election.stopped(a, b);
  });

  it('hears of a release while its own question is under way', async () => {
    const [a, b] = [await election.leader(), election.candidate('b')];
    b.lock.faults = { ...NO_FAULTS, answerMs: 100 };
    b.run();
    await clock.advance(50);
    a.stop.abort();
    await clock.advance(150);
    expect(b.elector.isLeader).toBe(true);
    await election.stopped(a, b);
  });

  it('asks right at the end of the lease that it saw', async () => {
    const [a, b] = [await election.leader(), election.candidate('b').run()];
    await clock.advance(5000);
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    // From its last renewal, at most a retry period ago, the lease lasts exactly this long.
    const since = clock.monotonicNow();
    while (!b.elector.isLeader && clock.monotonicNow() - since <= LEASE_MS) await clock.advance(1);
    expect(b.elector.isLeader).toBe(true);
    expect(lease.record?.leaderTransitions).toBe(2);
    await election.stopped(a, b);
  });

  it('steps down when it hears that somebody else leads', async () => {
    const a = await election.leader();
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
    await election.stopped(a);
  });

  it('begins a new term, with the new epoch, when its lease had ended and is its own again', async () => {
    const a = await election.leader();
    lease.release('a');
    await clock.advance(400);
    expect(a.log.slice(2)).toEqual([
      'abort LeaseLostError',
      'work ended',
      'stopped LeaseLostError',
      'work 2',
    ]);
    expect(a.elector).toMatchObject({ isLeader: true, epoch: 2 });
    await election.stopped(a);
  });

  describe('with a store that loses its data', () => {
    it.each([0, 6])('begins a new term in a higher epoch, after %i former ones', async (former) => {
      for (let term = 0; term < former; term++) {
        lease.acquireOrRenew('former', LEASE_MS);
        lease.release('former');
      }
      const goBack = lease.saved();
      const a = await election.leader();
      const epoch = former + 1;
      await clock.advance(5000);
      goBack();
      await clock.advance(400);
      expect(a.log).toEqual([
        ...['leader a', `work ${epoch}`, 'abort LeaseLostError', 'work ended', 'stopped LeaseLostError'],
        `work ${epoch + 1}`,
      ]);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: epoch + 1 });
      await election.stopped(a);
    });

    it('begins a new term although the answer to the attempt that acquired again was lost', async () => {
      const goBack = lease.saved();
      const a = await election.leader();
      goBack();
      await clock.advance(399);
      a.lock.faults = { ...NO_FAULTS, loseAnswers: true };
      await clock.advance(1);
      a.lock.faults = NO_FAULTS;
      await clock.advance(RENEW_DEADLINE_MS);
      expect(a.log).toContain('stopped LeaseLostError');
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 2 });
      await election.stopped(a);
    });

    it('leads in an epoch above that of the former leader, as far as it was seen', async () => {
      const goBack = lease.saved();
      lease.acquireOrRenew('former', LEASE_MS, { epochAbove: 40 });
      const a = election.candidate('a').run();
      await clock.advance(100);
      goBack();
      await clock.advance(LEASE_MS);
      expect(a.log.at(-1)).toBe('work 42');
      await election.stopped(a);
    });
  });

  it('goes on leading when the work is done', async () => {
    const a = await election.leader();
    a.endWork();
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.log.at(-1)).toBe('work ended');
    await election.stopped(a);
    expect(a.log.at(-1)).toBe('stopped ShutdownError');
  });

  it('gives the lease to another when its work fails, and campaigns again', async () => {
    const [a, b] = [await election.leader(), election.candidate('b').run()];
    await clock.advance(5000);
    a.endWork(new Error('broken'));
    await clock.advance(0);
    expect(a.log.slice(-1)).toEqual(['stopped Error']);
    expect(b.elector.isLeader).toBe(true);
    b.stop.abort();
    await clock.advance(LONGEST_RETRY_MS);
    expect(a.elector.isLeader).toBe(true);
    await election.stopped(a, b);
  });

  it('leads with a lease that it won without hearing so', async () => {
    const a = election.candidate('a', { jitterFactor: 0.1 });
    a.lock.faults = { ...NO_FAULTS, loseAnswers: true };
    a.run();
    await clock.advance(100);
    a.lock.faults = NO_FAULTS;
    await clock.advance(RENEW_DEADLINE_MS + LONGEST_RETRY_MS);
    expect(a.log).toEqual(['leader a', 'work 1']);
    await election.stopped(a);
  });

  it('stops while the store is silent, in bounded time', async () => {
    const a = await election.leader();
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    a.stop.abort();
    await clock.advance(RENEW_DEADLINE_MS);
    await a.running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('is healthy unless it has work of a lease that ended too long ago', async () => {
    const a = await election.leader({ healthToleranceMs: 1000 });
    a.workIgnoresItsSignal = true;
    a.lock.faults = { ...NO_FAULTS, loseRequests: true };
    await clock.advance(LEASE_MS + 1000);
    await expect(a.elector.checkHealth()).resolves.toBeUndefined();
    await clock.advance(1);
    await expect(a.elector.checkHealth()).rejects.toThrow(LeaseLostError);
    a.endWork();
    await clock.advance(60_000);
    await expect(a.elector.checkHealth()).resolves.toBeUndefined();
    await election.stopped(a);
  });

  describe('with work that does not count', () => {
    it('begins again in an epoch that is above the one in its way', async () => {
      const [a, b] = [await election.leader(), election.candidate('b').run()];
      await clock.advance(5000);
      a.endWork(new SupersededError('older than it', { epoch: 41 }));
      await clock.advance(LONGEST_RETRY_MS);
      expect(a.log.slice(-2)).toEqual(['stopped SupersededError', 'work 42']);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 42 });
      expect(b.log).toEqual(['leader a']);
      await clock.advance(60_000);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 42 });
      await election.stopped(a, b);
    });

    it('begins again in the same epoch where nothing is known of any', async () => {
      const a = await election.leader();
      a.endWork(new SupersededError('nothing known', { epoch: 0 }));
      await clock.advance(LONGEST_RETRY_MS);
      expect(a.log.slice(-2)).toEqual(['stopped SupersededError', 'work 1']);
      await election.stopped(a);
    });

    it('follows the current holder of the lease', async () => {
      const a = await election.leader();
      lease.acquireOrRenew('b', 60_000, { deposing: lease.record });
      a.endWork(new SupersededError('b leads', { epoch: 2 }));
      await clock.advance(LONGEST_RETRY_MS);
      expect(a.elector).toMatchObject({ isLeader: false, leader: 'b', epoch: 2 });
      await election.stopped(a);
    });
  });

  it('remembers who led, in which epoch, why and when', async () => {
    const startMs = clock.now();
    const a = await election.leader();
    lease.release('a');
    lease.acquireOrRenew('thief', LEASE_MS);
    await clock.advance(LEASE_MS);
    await election.stopped(a);
    expect(a.elector.history).toEqual([
      { who: 'a', epoch: 1, why: 'started leading', atMs: startMs },
      // The release notification makes it try at once.
      { who: 'thief', epoch: 2, why: 'observed', atMs: startMs },
      { who: 'a', epoch: 1, why: 'stopped: another replica has taken the lease', atMs: startMs },
      { who: 'a', epoch: 3, why: 'started leading', atMs: startMs + LEASE_MS },
      { who: 'a', epoch: 3, why: 'stopped: we are stopping', atMs: startMs + LEASE_MS },
    ]);
  });

  it('remembers the last 100 transitions alone', async () => {
    const a = await election.leader();
    for (let i = 0; i < 60; i++) {
      lease.release('a');
      await clock.advance(400);
    }
    expect(a.elector.history).toHaveLength(100);
    expect(a.elector.history.at(-1)?.epoch).toBe(61);
    await election.stopped(a);
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
    const a = election.candidate('a');
    await clock.advance(10_000);
    expect(lease.record).toBeUndefined();
    a.run();
    await expect(a.elector.run(a.stop.signal)).rejects.toThrow(IllegalStateError);
    await election.stopped(a);
  });

  it('refuses options that contradict each other', () => {
    expect(() => election.candidate('a', { leaseDurationMs: 1000 })).toThrow(InvalidOptionError);
  });
});

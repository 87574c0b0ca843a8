import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeClock } from '../../machinery/clock/index.js';
import { LeaseLostError } from '../../machinery/errors/index.js';
import type { Candidate } from './election-harness.fixture.js';
import { ElectionHarness } from './election-harness.fixture.js';
import { NO_FAULTS } from '../../testing/faulty-resource-lock.js';
import type { LeaderElectionOptions } from './leader-election.options.js';
import type { MemoryLease } from './memory-resource-lock.js';

const LEASE_MS = 2500;
const RENEW_DEADLINE_MS = 1800;

describe('a leader', () => {
  let election: ElectionHarness;
  let clock: FakeClock;
  let lease: MemoryLease;

  beforeEach(() => {
    election = new ElectionHarness();
    ({ clock, lease } = election);
  });

  describe('when its process dies', () => {
    const NOTICED_WITHIN_MS = 80 * 1.5 + 100;

    /** Time from now until it leads. */
    async function untilLeading({ elector }: Candidate): Promise<number> {
      const since = clock.monotonicNow();
      while (!elector.isLeader && clock.monotonicNow() - since < 10_000) await clock.advance(1);
      return clock.monotonicNow() - since;
    }

    async function aPair(options?: LeaderElectionOptions): Promise<[Candidate, Candidate]> {
      const pair: [Candidate, Candidate] = [
        await election.leader(options),
        election.candidate('b', options).run(),
      ];
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
      await election.stopped(a, b);
    });

    it('is replaced at the end of its lease, where that was chosen', async () => {
      const [a, b] = await aPair({ takeover: 'expiry' });
      a.die();
      expect(await untilLeading(b)).toBeGreaterThan(LEASE_MS - 400 - 1);
      expect(b.witness.looks).toBe(0);
      expect(b.metrics).not.toContain('deposed');
      await election.stopped(a, b);
    });

    it('is replaced at the end of its lease, where it could not be seen', async () => {
      const [a, b] = await aPair();
      a.witness.breakLink();
      await clock.advance(1000);
      a.die();
      expect(await untilLeading(b)).toBeGreaterThan(LEASE_MS - 400 - 1);
      await election.stopped(a, b);
    });

    it('is replaced by one of many, and the others follow that one', async () => {
      const a = await election.leader();
      const others = ['b', 'c', 'd'].map((name) => election.candidate(name).run());
      await clock.advance(5000);
      a.die();
      await clock.advance(NOTICED_WITHIN_MS);
      expect(others.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
      await clock.advance(10_000);
      expect(others.map(({ elector }) => elector.epoch)).toEqual([2, 2, 2]);
      await election.stopped(a, ...others);
    });
  });

  describe('while its process lives', () => {
    it('says at once that it cannot be seen, so that nobody takes it for dead', async () => {
      const [a, b] = [await election.leader(), election.candidate('b').run()];
      await clock.advance(5000);
      a.witness.breakLink();
      await clock.advance(0);
      expect(lease.record?.witness).toBe('');
      await clock.advance(60_000);
      expect(a.elector.isLeader).toBe(true);
      a.witness.join();
      await clock.advance(400);
      expect(lease.record?.witness).toBe(election.presence.runId);
      await election.stopped(a, b);
    });

    it('may break all its connections for less than the grace', async () => {
      const [a, b] = [await election.leader(), election.candidate('b').run()];
      await clock.advance(5000);
      for (let count = 0; count < 50; count++) {
        // Its messages in the meantime wait for the next connection.
        a.lock.faults = { ...NO_FAULTS, requestMs: 60 };
        a.witness.breakLink();
        await clock.advance(60);
        a.lock.faults = NO_FAULTS;
        a.witness.join();
        await clock.advance(400);
      }
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 1 });
      await election.stopped(a, b);
    });

    it('keeps its lease when everybody loses the witness at once, and a new one comes', async () => {
      const [a, b] = [await election.leader(), election.candidate('b').run()];
      await clock.advance(5000);
      // The release is not received by anyone: the worst case.
      a.lock.faults = { ...NO_FAULTS, loseRequests: true };
      election.presence.restart();
      await clock.advance(1000);
      a.lock.faults = NO_FAULTS;
      for (const { witness } of [a, b]) witness.join();
      await clock.advance(10_000);
      expect(a.elector).toMatchObject({ isLeader: true, epoch: 1 });
      await election.stopped(a, b);
    });

    it('is deposed when it could be reached by nobody, and stops as soon as it hears so', async () => {
      const [a, b] = [await election.leader(), election.candidate('b').run()];
      await clock.advance(5000);
      a.lock.faults = { ...NO_FAULTS, loseRequests: true };
      a.witness.breakLink();
      await clock.advance(300);
      expect(b.elector).toMatchObject({ isLeader: true, epoch: 2 });
      a.lock.faults = NO_FAULTS;
      await clock.advance(RENEW_DEADLINE_MS);
      expect(a.elector).toMatchObject({ isLeader: false, leader: 'b' });
      expect(a.signal?.reason).toBeInstanceOf(LeaseLostError);
      await election.stopped(a, b);
    });
  });
});

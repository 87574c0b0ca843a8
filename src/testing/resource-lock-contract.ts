import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LeaderElectionRecord, LeaseAttempt, ResourceLock } from '@rollkeeper/runtime/leader-election';
import { waitFor } from './wait-for.js';

/** Locks of one lease, for {@link runResourceLockContract}. */
export interface ResourceLocksUnderTest {
  /** A candidate's lock; all of them share one lease without a previous holder. */
  lock(identity: string): ResourceLock;
  /** Lets time pass for the store of the lease. */
  pass(ms: number): Promise<void>;
  /** Keeps what the store has of the lease. The result puts it back, as the restore of a backup or an old replica does. */
  saved(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** Durations of the leases, milliseconds. */
interface ResourceLockContractOptions {
  /** A lease whose expiry is awaited; short enough for real time. @default 300 */
  readonly leaseMs?: number;
  /** A lease long enough that the next request still finds it held. @default 1000 */
  readonly stillHeldMs?: number;
}

const LONG_LEASE_MS = 600_000;

/** Runs the contract of `ResourceLock` on an implementation. */
export function runResourceLockContract(
  name: string,
  make: () => Promise<ResourceLocksUnderTest>,
  { leaseMs = 300, stillHeldMs = 1000 }: ResourceLockContractOptions = {},
): void {
  describe(`${name} keeps the contract of a resource lock`, () => {
    let subject: ResourceLocksUnderTest;
    let a: ResourceLock;
    let b: ResourceLock;

    beforeEach(async () => {
      subject = await make();
      a = subject.lock('a');
      b = subject.lock('b');
      // Connected before the test begins: on a busy machine a short lease expires before the TLS handshake is done.
      await Promise.all([a.get(), b.get()]);
    });

    afterEach(() => subject.stop());

    it('knows no record before the first attempt', async () => {
      expect(await a.get()).toBeUndefined();
    });

    it('gives a free lease to who asks first, with epoch 1', async () => {
      const attempt = await a.tryAcquireOrRenew(LONG_LEASE_MS);
      expect(attempt.outcome).toBe('acquired');
      expect(attempt.record).toMatchObject({
        holderIdentity: 'a',
        leaseDurationSeconds: LONG_LEASE_MS / 1000,
        leaderTransitions: 1,
      });
      expect(attempt.record.acquireTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(attempt.record.renewTime).toBe(attempt.record.acquireTime);
      expect(await b.get()).toEqual(attempt.record);
    });

    it('tells the others who holds it and how long that can last', async () => {
      const { record } = await a.tryAcquireOrRenew(LONG_LEASE_MS);
      const attempt = await b.tryAcquireOrRenew(leaseMs);
      expect(attempt).toMatchObject({ outcome: 'held', record });
      expect(remainingOf(attempt)).toBeGreaterThan(LONG_LEASE_MS / 2);
      expect(remainingOf(attempt)).toBeLessThanOrEqual(LONG_LEASE_MS);
    });

    it('renews for the holder: same epoch and acquire time, later renew time', async () => {
      const first = await a.tryAcquireOrRenew(LONG_LEASE_MS);
      await subject.pass(5);
      const second = await a.tryAcquireOrRenew(LONG_LEASE_MS);
      expect(second.outcome).toBe('renewed');
      expect(second.record).toMatchObject({ leaderTransitions: 1, acquireTime: first.record.acquireTime });
      expect(second.record.renewTime > first.record.renewTime).toBe(true);
    });

    it('stays with a holder that renews, beyond the first duration', async () => {
      await a.tryAcquireOrRenew(leaseMs);
      await subject.pass(leaseMs / 2);
      await a.tryAcquireOrRenew(LONG_LEASE_MS);
      await subject.pass(leaseMs);
      expect((await b.tryAcquireOrRenew(leaseMs)).outcome).toBe('held');
    });

    it('can be taken right after the time that remained, and the epoch grows', async () => {
      await a.tryAcquireOrRenew(stillHeldMs);
      const held = await b.tryAcquireOrRenew(leaseMs);
      expect(held.outcome).toBe('held');
      await subject.pass(remainingOf(held));
      const taken = await b.tryAcquireOrRenew(leaseMs);
      expect(taken.outcome).toBe('acquired');
      expect(taken.record).toMatchObject({ holderIdentity: 'b', leaderTransitions: 2 });
    });

    it('makes a new epoch for the same holder after an expiry', async () => {
      await a.tryAcquireOrRenew(leaseMs);
      await subject.pass(leaseMs + 1);
      const again = await a.tryAcquireOrRenew(leaseMs);
      expect(again.outcome).toBe('acquired');
      expect(again.record.leaderTransitions).toBe(2);
    });

    it('makes a new epoch for the same holder after a release', async () => {
      await a.tryAcquireOrRenew(LONG_LEASE_MS);
      expect(await a.release()).toBe(true);
      expect((await a.get())?.holderIdentity).toBe('');
      expect((await a.get())?.leaderTransitions).toBe(1);
      const again = await a.tryAcquireOrRenew(LONG_LEASE_MS);
      expect(again).toMatchObject({ outcome: 'acquired', record: { leaderTransitions: 2 } });
    });

    it('is free at once after a release', async () => {
      await a.tryAcquireOrRenew(LONG_LEASE_MS);
      await a.release();
      const taken = await b.tryAcquireOrRenew(LONG_LEASE_MS);
      expect(taken).toMatchObject({
        outcome: 'acquired',
        record: { holderIdentity: 'b', leaderTransitions: 2 },
      });
    });

    it('is released by its holder alone', async () => {
      expect(await a.release()).toBe(false);
      await a.tryAcquireOrRenew(LONG_LEASE_MS);
      expect(await b.release()).toBe(false);
      expect((await b.tryAcquireOrRenew(LONG_LEASE_MS)).outcome).toBe('held');
    });

    it('wakes who waits when it is released, and nobody after the unsubscribe', async () => {
      let [woken, gone] = [0, 0];
      const stops = [b.onReleased(() => woken++), subject.lock('c').onReleased(() => gone++)];
      stops[1]?.();
      await waitFor(async () => {
        await a.tryAcquireOrRenew(LONG_LEASE_MS);
        await a.release();
        return woken > 0;
      });
      expect(gone).toBe(0);
      stops[0]?.();
    });

    it('goes to exactly one of many who ask at once', async () => {
      const locks = Array.from({ length: 10 }, (_, i) => subject.lock(`candidate-${i}`));
      const attempts = await Promise.all(locks.map((lock) => lock.tryAcquireOrRenew(LONG_LEASE_MS)));
      expect(attempts.filter(({ outcome }) => outcome === 'acquired')).toHaveLength(1);
      expect(new Set(attempts.map(({ record }) => record.holderIdentity)).size).toBe(1);
    });

    describe('taking it from a holder that was seen to be gone', () => {
      const witness = 'server-1';
      const acquired = async (): Promise<LeaderElectionRecord> =>
        (await a.tryAcquireOrRenew(LONG_LEASE_MS, { witness })).record;

      it('shows where the holder can be seen, for as long as it says so', async () => {
        expect((await acquired()).witness).toBe(witness);
        expect((await b.get())?.witness).toBe(witness);
        expect((await b.tryAcquireOrRenew(leaseMs)).record.witness).toBe(witness);
        expect((await a.tryAcquireOrRenew(LONG_LEASE_MS)).record.witness).toBe('');
        expect((await b.tryAcquireOrRenew(leaseMs)).record.witness).toBe('');
      });

      it('gives it at once, with the next epoch', async () => {
        const deposing = await acquired();
        const taken = await b.tryAcquireOrRenew(LONG_LEASE_MS, { deposing, witness: 'server-2' });
        expect(taken).toMatchObject({
          outcome: 'acquired',
          record: { holderIdentity: 'b', leaderTransitions: 2, witness: 'server-2' },
        });
        expect(taken.record.acquireTime).toBe(taken.record.renewTime);
        expect(await a.tryAcquireOrRenew(LONG_LEASE_MS, { witness })).toMatchObject({
          outcome: 'held',
          record: { holderIdentity: 'b' },
        });
        expect(await a.release()).toBe(false);
      });

      it('leaves it to a holder that has said meanwhile that it can be seen nowhere, or elsewhere', async () => {
        const deposing = await acquired();
        for (const other of [undefined, 'server-2']) {
          await a.tryAcquireOrRenew(LONG_LEASE_MS, { witness: other });
          expect((await b.tryAcquireOrRenew(leaseMs, { deposing })).outcome).toBe('held');
        }
      });

      it('leaves it to a holder that never said where it can be seen', async () => {
        const { record } = await a.tryAcquireOrRenew(LONG_LEASE_MS);
        expect((await b.tryAcquireOrRenew(leaseMs, { deposing: record })).outcome).toBe('held');
      });

      it('leaves it to the next term, of the same holder or of another', async () => {
        const deposing = await acquired();
        await a.release();
        const again = await acquired();
        expect(again.leaderTransitions).toBe(2);
        expect((await b.tryAcquireOrRenew(leaseMs, { deposing })).outcome).toBe('held');
        const c = subject.lock('c');
        expect((await c.tryAcquireOrRenew(LONG_LEASE_MS, { deposing: again, witness })).outcome).toBe(
          'acquired',
        );
        expect((await b.tryAcquireOrRenew(leaseMs, { deposing: again })).outcome).toBe('held');
      });

      it('gives it to exactly one of many that saw it', async () => {
        const deposing = await acquired();
        const locks = Array.from({ length: 5 }, (_, i) => subject.lock(`candidate-${i}`));
        const attempts = await Promise.all(
          locks.map((lock) => lock.tryAcquireOrRenew(LONG_LEASE_MS, { deposing, witness })),
        );
        expect(attempts.filter(({ outcome }) => outcome === 'acquired')).toHaveLength(1);
      });
    });

    describe('an epoch that must be greater', () => {
      it('is given to a free lease', async () => {
        const attempt = await a.tryAcquireOrRenew(LONG_LEASE_MS, { epochAbove: 41 });
        expect(attempt).toMatchObject({ outcome: 'acquired', record: { leaderTransitions: 42 } });
      });

      it('is given to a lease of our own, and the renewals keep it', async () => {
        await a.tryAcquireOrRenew(LONG_LEASE_MS);
        for (const outcome of ['acquired', 'renewed', 'renewed']) {
          const attempt = await a.tryAcquireOrRenew(LONG_LEASE_MS, { epochAbove: 41 });
          expect(attempt).toMatchObject({ outcome, record: { leaderTransitions: 42 } });
        }
      });

      it('gives no one the lease of another', async () => {
        await a.tryAcquireOrRenew(LONG_LEASE_MS);
        expect((await b.tryAcquireOrRenew(leaseMs, { epochAbove: 41 })).outcome).toBe('held');
      });
    });

    describe('a store that goes back to before the acquisition', () => {
      const releasedBefore = async (times: number): Promise<void> => {
        for (let epoch = 1; epoch <= times; epoch++) {
          expect((await b.tryAcquireOrRenew(LONG_LEASE_MS)).record.leaderTransitions).toBe(epoch);
          await b.release();
        }
      };

      it.each([0, 3])(
        'begins another term for the holder although the epoch is the same, after %i former ones',
        async (former) => {
          await releasedBefore(former);
          const goBack = await subject.saved();
          const first = await a.tryAcquireOrRenew(LONG_LEASE_MS);
          await subject.pass(5);
          await goBack();
          const again = await a.tryAcquireOrRenew(LONG_LEASE_MS);
          expect(again).toMatchObject({ outcome: 'acquired', record: { leaderTransitions: former + 1 } });
          expect(again.record.acquireTime > first.record.acquireTime).toBe(true);
          expect(await a.tryAcquireOrRenew(LONG_LEASE_MS)).toMatchObject({
            outcome: 'renewed',
            record: { acquireTime: again.record.acquireTime },
          });
        },
      );

      it('gives the holder an epoch above the one that it had, if it asks for that', async () => {
        await releasedBefore(3);
        const goBack = await subject.saved();
        await a.tryAcquireOrRenew(LONG_LEASE_MS);
        await goBack();
        const again = await a.tryAcquireOrRenew(LONG_LEASE_MS, { epochAbove: 4 });
        expect(again).toMatchObject({ outcome: 'acquired', record: { leaderTransitions: 5 } });
      });

      it('gives the lease to the first who asks', async () => {
        const goBack = await subject.saved();
        await a.tryAcquireOrRenew(LONG_LEASE_MS);
        await goBack();
        expect((await b.tryAcquireOrRenew(LONG_LEASE_MS)).outcome).toBe('acquired');
        expect((await a.tryAcquireOrRenew(LONG_LEASE_MS)).outcome).toBe('held');
      });
    });

    it('rejects with the reason of an aborted signal', async () => {
      const reason = new Error('enough');
      const signal = AbortSignal.abort(reason);
      await expect(a.tryAcquireOrRenew(leaseMs, { signal })).rejects.toBe(reason);
      await expect(a.release(signal)).rejects.toBe(reason);
      expect(await b.get()).toBeUndefined();
    });

    it('describes itself', () => {
      expect(a.describe()).toContain('lease');
      expect(a.identity).toBe('a');
    });
  });
}

function remainingOf(attempt: LeaseAttempt): number {
  return attempt.outcome === 'held' ? attempt.remainingMs : Number.NaN;
}

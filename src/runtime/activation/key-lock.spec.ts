import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { KeyLockLostError } from '../../machinery/errors/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { KeyLock } from './key-lock.js';

const LOCK_MS = 1000;

function aLock(clock: FakeClock, renew: () => Promise<boolean>, sentAtMs = clock.monotonicNow()): KeyLock {
  return new KeyLock(
    { name: 'deployment ns/a', clock, logger: silentLogger, lockDurationMs: LOCK_MS, renew },
    sentAtMs,
  );
}

describe('a key lock that is kept', () => {
  it('is renewed three times per lock duration for as long as it takes', async () => {
    const clock = new FakeClock();
    let renewals = 0;
    const lock = aLock(clock, async () => {
      renewals += 1;
      return true;
    });
    const kept = lock.keep();
    await clock.advance(10 * LOCK_MS);
    expect(lock.signal.aborted).toBe(false);
    expect(renewals).toBeGreaterThanOrEqual(29);
    lock.stop();
    await kept;
    expect(clock.pendingTimers).toBe(0);
  });

  it('is lost at once when the store says so', async () => {
    const clock = new FakeClock();
    const lock = aLock(clock, async () => false);
    void lock.keep();
    await clock.advance(LOCK_MS / 3 + 1);
    expect(lock.signal.reason).toMatchObject({ code: 'KEY_LOCK_LOST' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is given up before it can have expired when renewals are not answered', async () => {
    const clock = new FakeClock();
    const lock = aLock(clock, () => new Promise(() => undefined));
    void lock.keep();
    await clock.advance(LOCK_MS * 0.9);
    expect(lock.signal.aborted).toBe(false);
    await clock.advance(LOCK_MS * 0.1 - 1);
    expect(lock.signal.reason).toMatchObject({ code: 'KEY_LOCK_LOST' });
  });

  it('is not believed in after a pause, although no timer has fired yet', async () => {
    const clock = new FakeClock();
    const lock = aLock(clock, () => new Promise(() => undefined));
    lock.assertHeld();
    vi.spyOn(clock, 'monotonicNow').mockReturnValue(clock.monotonicNow() + LOCK_MS);
    expect(lock.signal.aborted, 'the timer is late').toBe(false);
    expect(() => lock.assertHeld()).toThrow(KeyLockLostError);
    expect(lock.signal.aborted).toBe(true);
    lock.stop();
  });

  it('counts from before the acquiring request was sent, however late the answer came', async () => {
    const clock = new FakeClock();
    const sentAtMs = clock.monotonicNow();
    await clock.advance(LOCK_MS * 0.9);
    const lock = aLock(clock, () => new Promise(() => undefined), sentAtMs);
    void lock.keep();
    await clock.advance(LOCK_MS * 0.1 - 1);
    expect(lock.signal.aborted).toBe(true);
  });

  it('is lost at once when the answer to the acquiring request came after the lock’s whole duration', async () => {
    const clock = new FakeClock();
    const sentAtMs = clock.monotonicNow();
    await clock.advance(2 * LOCK_MS);
    const lock = aLock(clock, async () => true, sentAtMs);
    expect(lock.signal.aborted).toBe(true);
  });

  it('counts from before a renewal was sent, not from its answer', async () => {
    const clock = new FakeClock();
    let sent = 0;
    const lock = aLock(clock, async () => {
      sent += 1;
      if (sent > 1) return new Promise(() => undefined);
      await clock.sleep(500);
      return true;
    });
    void lock.keep();
    // Sent at 333, answered at 833: valid until 333 + 1000, less the safety margin.
    await clock.advance(1200);
    expect(lock.signal.aborted).toBe(false);
    await clock.advance(132);
    expect(lock.signal.aborted).toBe(true);
  });

  it('survives a renewal that fails when the next succeeds in time', async () => {
    const clock = new FakeClock();
    let attempts = 0;
    const lock = aLock(clock, async () => {
      attempts += 1;
      if (attempts % 2 === 1) throw new Error('no link');
      return true;
    });
    const kept = lock.keep();
    await clock.advance(5 * LOCK_MS);
    expect(lock.signal.aborted).toBe(false);
    lock.stop();
    await kept;
  });

  it('does not believe the wall clock', async () => {
    const clock = new FakeClock();
    const lock = aLock(clock, () => new Promise(() => undefined));
    void lock.keep();
    clock.jumpWallClock(-3_600_000);
    await clock.advance(LOCK_MS - 1);
    expect(lock.signal.aborted).toBe(true);
  });
});

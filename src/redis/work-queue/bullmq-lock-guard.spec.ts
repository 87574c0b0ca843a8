import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { BullMqLockGuard } from './bullmq-lock-guard.js';

const LOCK_MS = 1000;

describe('the guard of a queue lock', () => {
  it('aborts a handler before its lock can have expired without a renewal', async () => {
    const clock = new FakeClock();
    const signal = new BullMqLockGuard(clock, LOCK_MS).track('1', 'ns/a', clock.now());
    await clock.advance(LOCK_MS * 0.9);
    expect(signal.aborted).toBe(false);
    await clock.advance(LOCK_MS * 0.1 - 1);
    expect(signal.reason).toMatchObject({ code: 'KEY_LOCK_LOST' });
  });

  it('counts from when the job was asked for, not from when it arrived', async () => {
    const clock = new FakeClock();
    const takenAtMs = clock.now();
    await clock.advance(900);
    const signal = new BullMqLockGuard(clock, LOCK_MS).track('1', 'ns/a', takenAtMs);
    await clock.advance(99);
    expect(signal.aborted).toBe(true);
  });

  it('counts from when the last renewal was sent', async () => {
    const clock = new FakeClock();
    const guard = new BullMqLockGuard(clock, LOCK_MS);
    const signal = guard.track('1', 'ns/a', clock.now());
    await clock.advance(500);
    const sentAtMs = clock.monotonicNow();
    await clock.advance(300);
    guard.renewed('1', sentAtMs);
    await clock.advance(600);
    expect(signal.aborted).toBe(false);
    await clock.advance(99);
    expect(signal.aborted).toBe(true);
  });

  it('aborts at once when the queue says that the lock is lost', () => {
    const clock = new FakeClock();
    const guard = new BullMqLockGuard(clock, LOCK_MS);
    const signal = guard.track('1', 'ns/a', clock.now());
    guard.lost('1');
    expect(signal.reason).toMatchObject({ code: 'KEY_LOCK_LOST' });
  });

  it('lets go of jobs that ended', async () => {
    const clock = new FakeClock();
    const guard = new BullMqLockGuard(clock, LOCK_MS);
    const signal = guard.track('1', 'ns/a', clock.now());
    guard.untrack('1');
    await clock.advance(2 * LOCK_MS);
    expect(signal.aborted).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });
});

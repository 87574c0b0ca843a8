import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { StaleCacheError } from '../../machinery/errors/index.js';
import { compareResourceVersions } from '../../machinery/kubernetes/index.js';
import { waitUntilCaughtUp } from './caught-up.js';

class CacheAt {
  private waiters: (() => void)[] = [];

  constructor(public lastSyncedResourceVersion: string | undefined) {}

  hasSeen(version: string): boolean {
    return (compareResourceVersions(this.lastSyncedResourceVersion ?? '0', version) ?? -1) >= 0;
  }

  waitForResourceVersion(_version: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiters.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  moveTo(version: string): void {
    this.lastSyncedResourceVersion = version;
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}

describe('waiting for the caches', () => {
  const clock = new FakeClock();
  const never = new AbortController().signal;
  const options = { timeoutMs: 5000, clock };

  it('does not wait when every cache is new enough, comparing numbers and not text', async () => {
    const pods = new CacheAt('100');
    expect(await waitUntilCaughtUp({ pods: '99' }, () => pods, never, options)).toEqual({
      waited: false,
      waitedMs: 0,
    });
  });

  it('waits for a cache that is behind', async () => {
    const pods = new CacheAt('98');
    const waiting = waitUntilCaughtUp({ pods: '99' }, () => pods, never, options);
    pods.moveTo('99');
    expect((await waiting).waited).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('passes over resources that this replica has no cache of', async () => {
    expect((await waitUntilCaughtUp({ widgets: '99' }, () => undefined, never, options)).waited).toBe(false);
  });

  it('gives up after the time-out, naming what stayed behind', async () => {
    const waiting = waitUntilCaughtUp({ pods: '99' }, () => new CacheAt('98'), never, options);
    const outcome = expect(waiting).rejects.toThrow(
      new StaleCacheError('the cache has not caught up with pods 99'),
    );
    await clock.advance(5000);
    await outcome;
  });
});

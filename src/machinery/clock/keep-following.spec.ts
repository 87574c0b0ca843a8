import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from './fake-clock.js';
import { keepFollowing } from './keep-following.js';

describe('following something that ends', () => {
  let clock: FakeClock;
  let stop: AbortController;
  let begunAtMs: number[];
  let failures: unknown[];

  beforeEach(() => {
    clock = new FakeClock();
    stop = new AbortController();
    begunAtMs = [];
    failures = [];
  });

  const follow = (round: () => Promise<'over' | void>): Promise<void> =>
    keepFollowing(
      () => {
        begunAtMs.push(clock.monotonicNow());
        return round();
      },
      {
        clock,
        firstMs: 100,
        longestMs: 400,
        healthyAfterMs: 1000,
        onFailure: (error) => failures.push(error),
      },
      stop.signal,
    );

  it.each([
    { name: 'ends without an error', end: () => Promise.resolve(), failed: 0 },
    { name: 'fails', end: () => Promise.reject(new Error('refused')), failed: 5 },
  ])('pauses longer and longer if each round $name at once', async ({ end, failed }) => {
    const following = follow(end);
    await clock.advance(1499);
    stop.abort();
    await following;
    expect(begunAtMs).toEqual([0, 100, 300, 700, 1100]);
    expect(failures).toHaveLength(failed);
  });

  it('starts the next round at once after one that lasted, and the pauses at the shortest', async () => {
    let rounds = 0;
    const following = follow(async () => {
      if (++rounds === 3) await clock.sleep(1000);
    });
    await clock.advance(1450);
    stop.abort();
    await following;
    expect(begunAtMs).toEqual([0, 100, 300, 1300, 1400]);
  });

  it('pauses also after a round that failed although it lasted', async () => {
    const following = follow(async () => {
      await clock.sleep(1000);
      throw new Error('broken');
    });
    await clock.advance(1150);
    stop.abort();
    await clock.advance(1000);
    await following;
    expect(begunAtMs).toEqual([0, 1100]);
    expect(failures).toHaveLength(1);
  });

  it('ends when a round says so, and during a pause when it is aborted', async () => {
    await follow(() => Promise.resolve('over'));
    expect(begunAtMs).toEqual([0]);
    const following = follow(() => Promise.resolve());
    await clock.advance(50);
    stop.abort();
    await following;
    expect(begunAtMs).toEqual([0, 0]);
    expect(clock.pendingTimers).toBe(0);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { ExpiringMap } from './expiring-map.js';
import { FakeClock } from './fake-clock.js';

describe('a map whose entries expire', () => {
  let clock: FakeClock;
  let map: ExpiringMap<number>;

  beforeEach(() => {
    clock = new FakeClock();
    map = new ExpiringMap(() => clock.monotonicNow(), 1000);
  });

  it('returns an entry until its time is over', async () => {
    map.set('a', 1, 500);
    await clock.advance(499);
    expect(map.get('a')).toBe(1);
    await clock.advance(1);
    expect(map.get('a')).toBeUndefined();
  });

  it('starts the time of an entry again when it is set again', async () => {
    map.set('a', 1, 500);
    await clock.advance(400);
    map.set('a', 2, 500);
    await clock.advance(400);
    expect(map.get('a')).toBe(2);
  });

  it('keeps an entry with an infinite time until it is deleted', async () => {
    map.set('a', 1, Infinity);
    await clock.advance(3_600_000);
    map.set('b', 2, 1);
    expect(map.all()).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    map.delete('a');
    expect(map.get('a')).toBeUndefined();
  });

  it('lists only entries that have not expired', async () => {
    map.set('a', 1, 10);
    map.set('b', 2, 20);
    await clock.advance(15);
    expect(map.all()).toEqual([['b', 2]]);
  });

  it('holds no more entries than were set in the last two intervals, however many keys there were', async () => {
    let largest = 0;
    for (let index = 0; index < 50_000; index++) {
      map.set(`key-${index}`, index, 1000);
      if (index % 100 === 99) await clock.advance(10);
      largest = Math.max(largest, map.size);
    }
    expect(largest).toBeLessThanOrEqual(20_000);
    await clock.advance(1000);
    map.set('last', 0, 1000);
    expect(map.size).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../machinery/clock/index.js';
import { ManualClusterClock, SystemClusterClock } from './cluster-clock.js';

const START = Date.UTC(2030, 0, 1);

function setUp() {
  const log: string[] = [];
  const cluster = new ManualClusterClock(START, async () => {
    log.push(`rest at ${cluster.clock.monotonicNow()}`);
  });
  const after = (delayMs: number, name: string) => cluster.clock.setTimeout(() => log.push(name), delayMs);
  return { cluster, log, after };
}

describe('a manual clock', () => {
  it('lets the cluster come to rest before the time moves and after, not between timers of one instant', async () => {
    const { after, cluster, log } = setUp();
    after(20, 'c');
    after(10, 'a');
    after(10, 'b');
    await cluster.advance(30);
    expect(log).toEqual(['rest at 0', 'a', 'b', 'rest at 10', 'c', 'rest at 20', 'rest at 30']);
    expect(cluster.now()).toEqual(new Date(START + 30));
  });

  it('shows every timer its own instant', async () => {
    const { cluster } = setUp();
    let seen: Date | undefined;
    cluster.clock.setTimeout(() => (seen = cluster.now()), 10);
    await cluster.advance(3_600_000);
    expect(seen).toEqual(new Date(START + 10));
  });

  it('moves once after the other when it is told to move twice', async () => {
    const { after, cluster, log } = setUp();
    after(10, 'a');
    await Promise.all([cluster.advance(5), cluster.advance(5)]);
    expect(log).toEqual(['rest at 0', 'rest at 5', 'rest at 5', 'a', 'rest at 10', 'rest at 10']);
  });

  it('moves to an instant', async () => {
    const { cluster } = setUp();
    await cluster.advanceTo('2030-01-01T01:00:00Z');
    expect(cluster.now()).toEqual(new Date('2030-01-01T01:00:00Z'));
    await expect(cluster.advanceTo(new Date(START))).rejects.toThrow(/not a time to move forward by/);
    await expect(cluster.advanceTo('noon')).rejects.toThrow(/noon is not a valid time/);
  });

  it.each([-1, Number.NaN, Infinity])('does not move by %d', async (ms) => {
    await expect(setUp().cluster.advance(ms)).rejects.toThrow(/not a time to move forward by/);
  });

  it('stops where the cluster does not come to rest, and goes on from there', async () => {
    let fails = false;
    const cluster = new ManualClusterClock(START, () =>
      fails ? Promise.reject(new Error('busy')) : Promise.resolve(),
    );
    cluster.clock.setTimeout(() => (fails = true), 10);
    await expect(cluster.advance(60)).rejects.toThrow('busy');
    expect(cluster.now()).toEqual(new Date(START + 10));
    fails = false;
    await cluster.advance(5);
    expect(cluster.now()).toEqual(new Date(START + 15));
  });
});

it('the system’s clock is nobody’s to move', async () => {
  const cluster = new SystemClusterClock(new SystemClock());
  await expect(cluster.advance()).rejects.toThrow(/clock: 'manual'/);
  await expect(cluster.advanceTo()).rejects.toThrow(/clock: 'manual'/);
});

import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { Pod } from '../../machinery/kubernetes/index.js';
import type { ApiClient } from '../../client/api-client/index.js';
import { MemoryWorkQueue } from '../../runtime/work-queue/index.js';
import { Activity } from './activity.js';

const never = new AbortController().signal;

function setUp() {
  const machine = new FakeClock();
  const activity = new Activity(machine, 1);
  const queue = new MemoryWorkQueue({ name: 'test', clock: machine });
  const cache = { resource: 'pods', seen: 5, hasSeen: (version: string) => cache.seen >= Number(version) };
  activity.watch(() => ({ queues: [queue], caches: [cache] }));
  /** Whether it settles within `ms` of real time. */
  const isSettledWithin = async (ms = 100): Promise<boolean> => {
    let isSettled = false;
    const stop = new AbortController();
    const settled = activity.settled(stop.signal).then(
      () => (isSettled = true),
      () => undefined,
    );
    for (let step = 0; step < ms && !isSettled; step++) await machine.advance(1);
    stop.abort(new Error('enough'));
    await settled;
    return isSettled;
  };
  return { activity, cache, isSettledWithin, machine, queue };
}

describe('a cluster', () => {
  it('is at rest where nothing goes on', async () => {
    expect(await setUp().isSettledWithin()).toBe(true);
  });

  it('is not while a request is under way, failed ones until they have', async () => {
    const { activity, isSettledWithin } = setUp();
    let fail: (error: Error) => void = () => undefined;
    const get = () => new Promise((_, reject) => (fail = reject));
    const client = activity.clientOf({ get } as unknown as ApiClient);
    const request = expect(client.get(Pod, { name: 'a' })).rejects.toThrow('no');
    expect(await isSettledWithin()).toBe(false);
    fail(new Error('no'));
    await request;
    expect(await isSettledWithin()).toBe(true);
  });

  it('is not while a cache has not seen the last write of its kind', async () => {
    const { activity, cache, isSettledWithin } = setUp();
    activity.wrote('pods', 6);
    activity.wrote('deployments.apps', 9);
    expect(await isSettledWithin()).toBe(false);
    cache.seen = 6;
    expect(await isSettledWithin()).toBe(true);
  });

  it('is not while a key waits or is worked on', async () => {
    const { isSettledWithin, queue } = setUp();
    await queue.add('a');
    expect(await isSettledWithin()).toBe(false);
    queue.takeNext();
    expect(await isSettledWithin()).toBe(false);
    queue.done('a');
    expect(await isSettledWithin()).toBe(true);
  });

  it('is not before a key has been tried again, unless that is for later', async () => {
    const { isSettledWithin, queue } = setUp();
    await queue.addRateLimited('a', new Error('again'), { leastDelayMs: 400 });
    expect(await isSettledWithin()).toBe(false);
    await queue.purge('a');
    await queue.addRateLimited('a', new Error('again'), { leastDelayMs: 60_000 });
    await queue.addAfter('b', 300, { reason: 'requeue' });
    expect(await isSettledWithin()).toBe(true);
  });

  it('waits until a short pause is over, and does not wait for a long one', async () => {
    const { activity, isSettledWithin, machine } = setUp();
    const clock = activity.clockOf(machine);
    clock.setTimeout(() => undefined, 60_000);
    const pause = clock.setTimeout(() => undefined, 300);
    expect(await isSettledWithin()).toBe(false);
    expect(await isSettledWithin(300)).toBe(true);
    pause.cancel();
    const cancelled = clock.setTimeout(() => undefined, 500);
    cancelled.cancel();
    cancelled.cancel();
    expect(await isSettledWithin()).toBe(true);
  });

  it('says what goes on if it does not come to rest', async () => {
    const { activity, machine, queue } = setUp();
    await queue.add('a');
    const settled = expect(activity.settled(never, 20)).rejects.toThrow(
      'the cluster did not settle within 20 ms: test: 0 keys are being processed, 1 are waiting',
    );
    await machine.advance(30);
    await settled;
  });
});

it('a clock of the cluster shows its time, and measures the machine’s', async () => {
  const machine = new FakeClock();
  const clock = new Activity(machine).clockOf({ now: () => 42 });
  let isOver = false;
  void clock.sleep(1000).then(() => (isOver = true));
  await machine.advance(1000);
  expect([clock.now(), clock.monotonicNow(), isOver]).toEqual([42, 1000, true]);
});

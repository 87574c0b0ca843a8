import { beforeEach, describe, expect, it } from 'vitest';
import { aborted } from '../../machinery/cancellation/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { QueuedActivations } from '../activation/index.js';
import type { Enqueue, LeadingWork } from '../controller/index.js';
import { HeldSlots, SlottedActivations } from '../slots/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { dueInSlots } from './index.js';
import { workInSlots } from './slotted-work.js';

const COUNT = 64;
const NAMESPACES = ['shop', 'bank'];

describe('the work beside the keys of a controller in slots', () => {
  const clock = new FakeClock();
  const order: string[] = [];
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let leading: LeadingWork;
  let stop: AbortController;

  beforeEach(() => {
    stop = new AbortController();
    order.length = 0;
    leading = {
      isReady: true,
      run: async (signal) => {
        order.push('it begins');
        await aborted(signal);
        order.push('it ends');
      },
      waitUntilReady: () => ready.promise,
    };
  });

  const start = (): Promise<void> => {
    const queue = new MemoryWorkQueue({ name: 'test', clock });
    const local = new QueuedActivations({
      ...{ queue, clock, logger: silentLogger },
      consumer: new MemoryWorkQueueConsumer(queue),
      actors: new MemoryActorRuntime({ clock }),
    });
    const held = new HeldSlots(COUNT);
    const watch = (): (() => void) => {
      order.push('changes are watched');
      return () => undefined;
    };
    const run = async (signal: AbortSignal): Promise<void> => {
      await aborted(signal);
      await ended.promise;
      order.push('the last key has ended');
    };
    const managed = {
      ...{ controller: { name: 'test', run }, queue, built: { watch, leading } },
      ...{ activations: new SlottedActivations({ local, held, isShown: () => true }) },
      untilFilled: Promise.resolve(),
    };
    const parts = { held, keeper: { run: aborted }, clock, logger: silentLogger };
    return workInSlots([managed], parts, stop.signal);
  };

  it('begins before any change is watched, and ends after the last key', async () => {
    const running = start();
    await clock.advance(0);
    expect(order).toEqual(['it begins']);
    ready.resolve();
    await clock.advance(0);
    stop.abort();
    await clock.advance(0);
    ended.resolve();
    await running;
    expect(order).toEqual(['it begins', 'changes are watched', 'the last key has ended', 'it ends']);
  });

  it('ends the work of the replica when it fails', async () => {
    const failure = new Error('it cannot go on');
    leading = { ...leading, run: () => Promise.reject(failure) };
    const failed = expect(start()).rejects.toBe(failure);
    await clock.advance(0);
    stop.abort();
    await failed;
  });
});

describe('the work of a replica in its slots', () => {
  let clock: FakeClock;
  let held: HeldSlots;
  let queue: MemoryWorkQueue;
  let stop: AbortController;
  let running: Promise<void>;
  /** Tells the controller that the object of a namespace has changed. */
  let change: Enqueue;
  let watches: number;

  beforeEach(async () => {
    clock = new FakeClock();
    held = new HeldSlots(COUNT);
    queue = new MemoryWorkQueue({ name: 'test', clock });
    stop = new AbortController();
    watches = 0;
    const local = new QueuedActivations({
      ...{ queue, clock, logger: silentLogger },
      consumer: new MemoryWorkQueueConsumer(queue),
      actors: new MemoryActorRuntime({ clock }),
    });
    const controller = {
      name: 'test',
      // Keys stay in the queue, where the test sees them.
      run: aborted,
    };
    const watch = (enqueue: Enqueue): (() => void) => {
      watches += 1;
      for (const namespace of NAMESPACES)
        enqueue({ ref: { namespace, name: 'known' }, reason: 'initial-list' });
      if (watches === 1) change = enqueue;
      return () => void (watches -= 1);
    };
    const managed = {
      ...{ controller, queue, built: { watch }, untilFilled: Promise.resolve() },
      activations: new SlottedActivations({ local, held, isShown: () => true }),
    };
    const parts = { held, keeper: { run: aborted }, clock, logger: silentLogger };
    running = workInSlots([managed], parts, stop.signal);
    await clock.advance(0);
  });

  const waiting = async (): Promise<readonly string[]> => {
    await clock.advance(0);
    return (await queue.inspect(100)).waiting.map(({ key }) => key).toSorted();
  };
  const slotOf = (namespace: string): [number, number] => [held.slotOf(namespace), 1];

  it('adds nothing before a slot begins, and then every key of that slot', async () => {
    expect(await waiting()).toEqual([]);
    held.begin(new Map([slotOf('shop')]));
    expect(await waiting()).toEqual(['shop/known']);
    held.begin(new Map([slotOf('bank')]));
    expect(await waiting()).toEqual(['bank/known', 'shop/known']);
    expect(watches).toBe(1);
  });

  it('adds the changes of its slots and no others', async () => {
    held.begin(new Map([slotOf('shop')]));
    for (const namespace of NAMESPACES) change({ ref: { namespace, name: 'changed' } });
    expect(await waiting()).toEqual(['shop/changed', 'shop/known']);
  });

  it('drops what waits, is delayed or parked of a slot that has ended', async () => {
    held.begin(new Map([slotOf('shop'), slotOf('bank')]));
    await waiting();
    await queue.addAfter('shop/later', 60_000);
    await queue.park('shop/parked', new Error('no'));
    held.endOthers(new Map([slotOf('bank')]));
    expect(await waiting()).toEqual(['bank/known']);
    expect(await queue.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, parked: 0 });
  });

  it('watches nothing any more once it has stopped', async () => {
    stop.abort();
    await running;
    expect(watches).toBe(0);
    held.begin(new Map([slotOf('shop')]));
    expect(await waiting()).toEqual([]);
  });

  it('takes of all due work that of its slots', () => {
    held.begin(new Map([slotOf('shop')]));
    const due = NAMESPACES.map((namespace) => ({ ref: { namespace, name: 'due' }, resourceVersion: '1' }));
    expect([...dueInSlots(due, held)].map(({ ref }) => ref.namespace)).toEqual(['shop']);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { aborted } from '../../machinery/cancellation/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { QueuedActivations } from '../activation/index.js';
import type { Enqueue } from '../controller/index.js';
import { HeldSlots, SlottedActivations } from '../slots/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { dueInSlots } from './index.js';
import { workInSlots } from './slotted-work.js';

const COUNT = 64;
const NAMESPACES = ['shop', 'bank'];

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

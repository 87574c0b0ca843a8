import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { QueuedActivations } from '../activation/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { HeldSlots, SlottedActivations } from './index.js';

const TERM = { epoch: 1, holder: 'us' };

describe('the activations of the slots of a replica', () => {
  let clock: FakeClock;
  let held: HeldSlots;
  let actors: MemoryActorRuntime;
  let activations: SlottedActivations;

  beforeEach(() => {
    clock = new FakeClock();
    held = new HeldSlots(64);
    actors = new MemoryActorRuntime({ clock });
    const queue = new MemoryWorkQueue({ name: 'test', clock });
    const consumer = new MemoryWorkQueueConsumer(queue);
    const local = new QueuedActivations({ queue, consumer, actors, clock, logger: silentLogger });
    const isShown = (_resource: string, version: string): boolean => Number(version) <= 5;
    activations = new SlottedActivations({ local, held, isShown });
  });

  it('run the keys of its own slots, and drop the others without an effect', async () => {
    held.begin(new Map([[held.slotOf('shop'), 1]]));
    expect(held.owns('bank')).toBe(false);
    const ran: string[] = [];
    const stop = new AbortController();
    const running = activations.run(
      async (taken) => {
        ran.push(taken.item.key);
        await taken.complete({ action: 'done' });
      },
      { concurrency: 1 },
      stop.signal,
    );
    for (const key of ['shop/web', 'bank/web']) await activations.queue.add(key);
    await clock.advance(0);
    expect(ran).toEqual(['shop/web']);
    expect(await activations.queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 0 });
    stop.abort();
    await running;
  });

  it('are in the slot of the namespace of the object, where that is not the namespace of the key', async () => {
    const local = new QueuedActivations({
      queue: new MemoryWorkQueue({ name: 'other', clock }),
      consumer: { run: async () => undefined } as never,
      ...{ actors, clock, logger: silentLogger },
    });
    const asked: unknown[] = [];
    const others = new SlottedActivations({
      ...{ local, held },
      namespaceOf: ({ namespace = '' }) => namespace.split('|')[1],
      isShown: (_resource, _version, namespace) => asked.push(namespace) > 0,
    });
    const adds = await others.beginTerm(TERM);
    await adds.addWithCauses('pods|shop/web', { versions: { pods: '1' } }, {});
    expect(asked).toEqual(['shop']);
  });

  it('keep nothing of a key whose run was in progress when its slot ended, and parked it', async () => {
    held.begin(new Map([[held.slotOf('shop'), 1]]));
    const stop = new AbortController();
    const running = activations.run(
      async (taken) => {
        held.endOthers(new Map());
        await taken.complete({ action: 'park', error: new Error('no') });
      },
      { concurrency: 1 },
      stop.signal,
    );
    await activations.queue.add('shop/web');
    await clock.advance(0);
    expect(await activations.queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 0 });
    stop.abort();
    await running;
  });

  it('record the causes that the caches do not show yet, and no others', async () => {
    const adds = await activations.beginTerm(TERM);
    await adds.addWithCauses('shop/web', { versions: { pods: '5' } });
    await adds.addWithCauses('shop/api', { versions: { pods: '6', 'replicasets.apps': '2' } });
    const never = new AbortController().signal;
    const seenBy = (key: string) =>
      actors.activate('test', key, never, async ({ mustHaveSeen }) => ({ ...mustHaveSeen }));
    expect([await seenBy('shop/web'), await seenBy('shop/api')]).toEqual([{}, { pods: '6' }]);
    expect((await activations.queue.counts()).waiting).toBe(2);
  });
});

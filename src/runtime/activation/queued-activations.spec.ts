import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { AddOptions } from '../work-queue/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import type { ActivationOutcome, ActorRuntime, OneStepAdds, TakenKey } from './index.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { QueuedActivations } from './index.js';

const KEY = 'ns/a';
const TERM = { epoch: 1, holder: 'us' };

describe('activations of a queue and of actors', () => {
  let clock: FakeClock;
  let queue: MemoryWorkQueue;
  let actors: MemoryActorRuntime;
  let activations: QueuedActivations;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new FakeClock();
    queue = new MemoryWorkQueue({ name: 'test', clock });
    actors = new MemoryActorRuntime({ clock });
    activations = of(queue);
    stop = new AbortController();
    running = Promise.resolve();
    return async () => {
      stop.abort();
      await running;
    };
  });

  const of = (
    target: ConstructorParameters<typeof QueuedActivations>[0]['queue'],
    recorder: Pick<ActorRuntime, 'activate' | 'recordCauses'> = actors,
  ): QueuedActivations =>
    new QueuedActivations({
      queue: target,
      consumer: new MemoryWorkQueueConsumer(queue),
      ...{ actors: recorder, clock, logger: silentLogger },
    });

  /** Takes keys and gives them back as `decide` says. */
  const take = (
    decide: (taken: TakenKey) => ActivationOutcome | Promise<ActivationOutcome>,
    endNow?: AbortSignal,
  ): void => {
    const handle = async (taken: TakenKey): Promise<void> => void (await taken.complete(await decide(taken)));
    running = activations.run(handle, { concurrency: 1, endNow }, stop.signal);
  };

  it('show the run of a key what the leader added it for', async () => {
    const adds = await activations.beginTerm(TERM);
    await adds.addWithCauses(KEY, { versions: { pods: '7' } });
    let seen: unknown;
    take(async (taken) => {
      await taken.activate(async ({ mustHaveSeen }) => void (seen = mustHaveSeen));
      return { action: 'done' };
    });
    await clock.advance(0);
    expect(seen).toEqual({ pods: '7' });
  });

  it('record the causes before the key can be taken, and add nothing if the leader has lost its lease meanwhile', async () => {
    const calls: string[] = [];
    const recorder = {
      activate: actors.activate.bind(actors),
      recordCauses: async () => void calls.push(`causes, ${(await queue.counts()).waiting} waiting`),
    };
    const adds = await of(queue, recorder).beginTerm(TERM);
    await adds.addWithCauses(KEY, { versions: { pods: '7' }, assertLeads: () => void calls.push('asked') });
    expect(calls).toEqual(['causes, 0 waiting', 'asked']);
    expect((await queue.counts()).waiting).toBe(1);
    const assertLeads = (): void => {
      throw new Error('no longer');
    };
    await expect(adds.addWithCauses('ns/b', { versions: { pods: '8' }, assertLeads })).rejects.toThrow(
      'no longer',
    );
    expect((await queue.counts()).waiting).toBe(1);
  });

  it('leave it to a queue that does both in one step', async () => {
    const calls: unknown[] = [];
    const oneStep = Object.assign(Object.create(queue) as MemoryWorkQueue, {
      beginTerm: async (): Promise<OneStepAdds> => ({
        check: () => Promise.resolve(),
        add: () => Promise.resolve(),
        addWithCauses: async (...call: [string, object, AddOptions?]) => void calls.push(call),
      }),
    });
    const recorder = {
      activate: actors.activate.bind(actors),
      recordCauses: () => Promise.reject(new Error('in a second step')),
    };
    const adds = await of(oneStep, recorder).beginTerm(TERM);
    await adds.addWithCauses(KEY, { versions: { pods: '7' } }, { priority: 'high' });
    expect(calls).toEqual([[KEY, { pods: '7' }, { priority: 'high' }]]);
  });

  it('bring a failed key back with backoff, and forget its failures once it is done', async () => {
    const retries: number[] = [];
    take(({ item }) => {
      retries.push(item.retries);
      return retries.length < 3
        ? { action: 'retry', error: new Error('no'), leastDelayMs: 0 }
        : { action: 'done' };
    });
    await queue.add(KEY);
    await clock.advance(60_000);
    expect(retries).toEqual([0, 1, 2]);
    expect(await queue.numRequeues(KEY)).toBe(0);
  });

  it('bring a key that is not at fault back as it was', async () => {
    const items: unknown[] = [];
    take(({ item }) => {
      items.push([item.reason, item.priority, item.retries]);
      return items.length === 1
        ? { action: 'come-back', delayMs: 500, why: 'held elsewhere' }
        : { action: 'done' };
    });
    await queue.add(KEY, { reason: 'user-change', priority: 'high' });
    await clock.advance(499);
    expect(items).toHaveLength(1);
    await clock.advance(1);
    expect(items).toEqual([
      ['user-change', 'high', 0],
      ['user-change', 'high', 0],
    ]);
  });

  it('say that a key is parked now', async () => {
    const outcomes: unknown[] = [];
    const handle = async (taken: TakenKey): Promise<void> =>
      void outcomes.push(await taken.complete({ action: 'park', error: new Error('never') }));
    running = activations.run(handle, { concurrency: 1 }, stop.signal);
    await queue.add(KEY);
    await clock.advance(0);
    expect(outcomes).toEqual([{ parked: true }]);
    expect(await queue.parked()).toMatchObject([{ key: KEY, error: 'never' }]);
  });

  it('lose no outcome while the queue does not answer', async () => {
    let failures = 3;
    const flaky = Object.assign(Object.create(queue) as MemoryWorkQueue, {
      addAfter: async (...args: Parameters<MemoryWorkQueue['addAfter']>) => {
        if (failures-- > 0) throw new Error('away');
        return queue.addAfter(...args);
      },
    });
    activations = of(flaky);
    take(() => ({ action: 'requeue-after', delayMs: 5000 }));
    await queue.add(KEY);
    await clock.advance(4000);
    expect(await queue.counts()).toMatchObject({ active: 0, delayed: 1 });
  });

  it('give a key whose hold is lost to others instead of trying on', async () => {
    const endNow = new AbortController();
    const silent = Object.assign(Object.create(queue) as MemoryWorkQueue, {
      addAfter: () => Promise.reject(new Error('away')),
    });
    activations = of(silent);
    take(() => ({ action: 'requeue-after', delayMs: 5000 }), endNow.signal);
    await queue.add(KEY);
    await clock.advance(4000);
    expect(await queue.counts()).toMatchObject({ active: 1 });
    stop.abort();
    endNow.abort(new ShutdownError('lost'));
    await running;
    expect((await queue.counts()).active).toBe(0);
    expect((await queue.inspectKey(KEY)).hasJob).toBe(true);
  });

  it('cancel what runs when it must end now', async () => {
    const endNow = new AbortController();
    const reasons: unknown[] = [];
    take(async (taken) => {
      const work = taken.activate(async (activation) => {
        await new Promise((resolve) => activation.signal.addEventListener('abort', resolve));
        reasons.push(activation.signal.reason);
      });
      await work.catch(() => undefined);
      expect(taken.signal.aborted).toBe(true);
      return { action: 'done' };
    }, endNow.signal);
    await queue.add(KEY);
    await clock.advance(0);
    endNow.abort(new Error('the lease is lost'));
    await clock.advance(0);
    expect(reasons).toEqual([new Error('the lease is lost')]);
  });
});

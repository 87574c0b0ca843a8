import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { runActorContract } from '../../testing/actor-contract.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { MemoryActorStore } from './memory-actor-store.js';

runActorContract('MemoryActorRuntime', async (options) => {
  const clock = new FakeClock();
  const store = new MemoryActorStore(clock, options);
  return {
    runtime: () => new MemoryActorRuntime({ clock, store, options }),
    frozenRuntime: () => new MemoryActorRuntime({ clock: new FakeClock(), store, options }),
    setStateVersion: async (controller, key, version) => store.setStateVersion({ controller, key }, version),
    pass: (ms) => clock.advance(ms),
    close: async () => undefined,
  };
});

describe('MemoryActorStore', () => {
  it('drops entries that were not used for the idle time, and intents later', async () => {
    const clock = new FakeClock();
    const runtime = new MemoryActorRuntime({ clock, options: { idleTtlMs: 60_000, intentTtlMs: 120_000 } });
    const signal = new AbortController().signal;
    await runtime.recordCauses('deployment', 'ns/idle', { pods: '1' });
    await runtime.activate('deployment', 'ns/kept', signal, (activation) => activation.storeIntents(['x']));
    await clock.advance(61_000);
    const seen = await runtime.activate('deployment', 'ns/idle', signal, async (a) => a.mustHaveSeen);
    expect(seen).toEqual({});
    expect(await runtime.activate('deployment', 'ns/kept', signal, async (a) => a.intents)).toEqual(['x']);
    await clock.advance(121_000);
    expect(await runtime.activate('deployment', 'ns/kept', signal, async (a) => a.intents)).toBeUndefined();
  });

  it('holds no more actors than were used lately, however many keys there were', async () => {
    const clock = new FakeClock();
    const store = new MemoryActorStore(clock, { idleTtlMs: 60_000, settledTtlMs: 10_000 });
    const runtime = new MemoryActorRuntime({ clock, store });
    const signal = new AbortController().signal;
    const largestWhile = async (work: () => void): Promise<number> => {
      let largest = 0;
      for (let index = 0; index < 1000; index++) {
        const key = `ns/job-${index}`;
        await runtime.activate('job', key, signal, async () => work()).catch(() => undefined);
        await clock.advance(1000);
        largest = Math.max(largest, store.size);
      }
      return largest;
    };
    expect(await largestWhile(() => undefined)).toBeLessThanOrEqual(42);
    const failing = (): never => {
      throw new Error('refused');
    };
    expect(await largestWhile(failing)).toBeLessThanOrEqual(92);
  });

  it('creates no entry for a lock without a holder', async () => {
    const store = new MemoryActorStore(new FakeClock());
    const id = { controller: 'job', key: 'ns/a' };
    const final = {
      ownWrites: {},
      clearIntents: false,
      unanswered: [],
      settled: [],
      isSettled: false,
      isInterruptionSettled: false,
    };
    expect(await store.release(id, { token: 1, owner: 'x' }, final)).toBe(false);
    expect(store.size).toBe(0);
  });

  it('takes every activation of the leader before for interrupted until it is settled, or every cache shows its writes', async () => {
    const clock = new FakeClock();
    const store = new MemoryActorStore(clock, { settledTtlMs: 60_000 });
    const runtime = new MemoryActorRuntime({ clock, store });
    const signal = new AbortController().signal;
    const follows = (key: string, settles = false): Promise<boolean> =>
      runtime.activate('deployment', key, signal, async (activation) => {
        if (settles) activation.settleInterruption();
        return activation.followsInterruption;
      });
    expect(await follows('ns/a')).toBe(false);
    store.inherit([], []);
    expect([await follows('ns/a', true), await follows('ns/a'), await follows('ns/b')]).toEqual([
      true,
      false,
      true,
    ]);
    await clock.advance(60_001);
    expect([await follows('ns/b'), await follows('ns/c')]).toEqual([false, false]);
  });

  it('leaves no timer behind after an activation', async () => {
    const clock = new FakeClock();
    const runtime = new MemoryActorRuntime({ clock });
    await runtime.activate('deployment', 'ns/a', new AbortController().signal, async () => undefined);
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });
});

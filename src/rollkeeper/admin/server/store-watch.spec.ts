import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { StoreWatch } from './store-watch.js';

const START_MS = Date.UTC(2026, 0, 1, 12);

describe('the watch over what replicas share', () => {
  let clock: FakeClock;
  let stop: AbortController;
  let watch: StoreWatch;
  /** How the store reacts to a ping. */
  let store: 'answers' | 'refuses' | 'hangs';

  beforeEach(() => {
    clock = new FakeClock(START_MS);
    stop = new AbortController();
    store = 'answers';
    watch = new StoreWatch({ store: { name: 'redis', ping }, clock });
    void watch.run(stop.signal);
  });
  afterEach(() => stop.abort());

  const ping = (): Promise<void> => {
    if (store === 'hangs') return new Promise(() => undefined);
    return store === 'answers' ? Promise.resolve() : Promise.reject(new Error('refused'));
  };
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) await clock.advance(100);
  };

  it('finds it well for as long as it answers', async () => {
    await pass(5000);
    expect(watch.view()).toEqual({ name: 'redis', answers: true });
    expect(await watch.ask(async () => 7)).toBe(7);
  });

  it.each(['hangs', 'refuses'] as const)(
    'says within two seconds that it %s, and since when',
    async (how) => {
      await pass(5000);
      store = how;
      await pass(2000);
      const { answers, meanwhile, silentSinceMs = 0 } = watch.view();
      expect(answers).toBe(false);
      expect(meanwhile).toContain('pods that run go on running');
      expect(silentSinceMs).toBeGreaterThanOrEqual(START_MS + 4500);
      expect(silentSinceMs).toBeLessThanOrEqual(START_MS + 5000);
      // The time stays the same while it is silent.
      await pass(5000);
      expect(watch.view().silentSinceMs).toBe(silentSinceMs);
    },
  );

  it('lets nothing be waited for that needs it: neither what is asked then, nor what was asked before', async () => {
    store = 'hangs';
    const before = watch.ask(() => new Promise(() => undefined));
    const refusal = expect(before).rejects.toThrow('redis does not answer');
    await pass(2000);
    await refusal;
    await expect(watch.ask(async () => 7)).rejects.toThrow('redis does not answer');
  });

  it('is over it as soon as it answers again', async () => {
    store = 'hangs';
    await pass(3000);
    store = 'answers';
    await pass(2000);
    expect(watch.view()).toEqual({ name: 'redis', answers: true });
    expect(await watch.ask(async () => 7)).toBe(7);
  });
});

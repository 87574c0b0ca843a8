import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { DueNames } from './due-names.js';

function setUp(
  look: (name: string) => Promise<void>,
  failed: (name: string, error: unknown) => boolean = () => true,
) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const due = new DueNames({ clock, retryMs: 200, look, failed });
  const running = due.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new Error('enough'));
    await running;
    expect(clock.pendingTimers).toBe(0);
  };
  return { clock, due, end };
}

describe('names that are due', () => {
  it('are looked at one after the other, each once', async () => {
    const looked: string[] = [];
    const { clock, due, end } = setUp(async (name) => void looked.push(name));
    for (const name of ['a', 'b', 'a']) due.add(name);
    await clock.advance(0);
    expect(looked).toEqual(['a', 'b']);
    due.add('a');
    await clock.advance(0);
    expect(looked).toEqual(['a', 'b', 'a']);
    await end();
  });

  it('are looked at again when they change while somebody looks', async () => {
    const first = Promise.withResolvers<void>();
    let looks = 0;
    const { clock, due, end } = setUp(() => (looks++ === 0 ? first.promise : Promise.resolve()));
    due.add('a');
    await clock.advance(0);
    due.add('a');
    first.resolve();
    await clock.advance(0);
    expect(looks).toBe(2);
    await end();
  });

  it('are tried again after a pause, for as long as that may help', async () => {
    let looks = 0;
    const { clock, due, end } = setUp(
      () => Promise.reject(new Error(`failure ${++looks}`)),
      (_name, error) => (error as Error).message !== 'failure 3',
    );
    due.add('a');
    await clock.advance(199);
    expect(looks).toBe(1);
    await clock.advance(1);
    expect(looks).toBe(2);
    await clock.advance(10_000);
    expect(looks).toBe(3);
    await end();
  });

  it('wait longer after each failure, and keep no other name waiting', async () => {
    let looks = 0;
    const looked: string[] = [];
    const { clock, due, end } = setUp((name) => {
      looked.push(name);
      return name === 'a' ? Promise.reject(new Error(`failure ${++looks}`)) : Promise.resolve();
    });
    due.add('a');
    due.add('b');
    await clock.advance(0);
    expect(looked).toEqual(['a', 'b']);
    for (let second = 0; second < 600; second++) await clock.advance(1000);
    // The first; nine after 0.2 s, 0.4 s … 51.2 s, which are 102.2 s; then one each minute.
    expect(looks).toBe(1 + 9 + 8);
    await end();
  });
});

import { describe, expect, it } from 'vitest';
import { FakeClock } from './fake-clock.js';
import { pause } from './pause.js';

describe('a pause', () => {
  it('lets the loop go on once the time is over', async () => {
    const clock = new FakeClock();
    const paused = pause(clock, 100, new AbortController().signal);
    await clock.advance(100);
    expect(await paused).toBe(true);
  });

  it('ends with the signal, does not reject, and ends the loop', async () => {
    const stop = new AbortController();
    const paused = pause(new FakeClock(), 100, stop.signal);
    stop.abort(new Error('stopped'));
    expect(await paused).toBe(false);
  });

  it('does not begin where the signal has aborted before', async () => {
    expect(await pause(new FakeClock(), 100, AbortSignal.abort())).toBe(false);
  });
});

import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { abortable, aborted, onAbort, untilAborted } from './abortable.js';

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('a listener for an abort', () => {
  it('is called once, when the signal aborts', () => {
    const stop = new AbortController();
    const listener = vi.fn();
    onAbort(stop.signal, listener);
    expect(listener).not.toHaveBeenCalled();
    stop.abort();
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('is called at once where the signal has aborted already', () => {
    const listener = vi.fn();
    onAbort(AbortSignal.abort(), listener);
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('leaves nothing on the signal once it is taken off', () => {
    const stop = new AbortController();
    const listener = vi.fn();
    onAbort(stop.signal, listener)();
    expect(listenersOf(stop.signal)).toBe(0);
    stop.abort();
    expect(listener).not.toHaveBeenCalled();
  });
});

describe('work that a signal can end the wait for', () => {
  const never = new Promise<never>(() => undefined);

  it('rejects with the reason, or resolves where the abort is the end', async () => {
    const stop = new AbortController();
    const waits = [abortable(never, stop.signal), untilAborted(never, stop.signal), aborted(stop.signal)];
    stop.abort('gone');
    expect(await Promise.allSettled(waits)).toEqual([
      { status: 'rejected', reason: 'gone' },
      { status: 'fulfilled', value: undefined },
      { status: 'fulfilled', value: undefined },
    ]);
  });

  it('settles as the work does, and leaves nothing on the signal', async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve(7), signal)).toBe(7);
    expect(await untilAborted(Promise.resolve(7), signal)).toBeUndefined();
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    await vi.waitFor(() => expect(listenersOf(signal)).toBe(0));
  });

  it('does not tell of a failure that comes after the abort', async () => {
    const stop = new AbortController();
    const { promise, reject } = Promise.withResolvers<void>();
    const wait = untilAborted(promise, stop.signal);
    stop.abort();
    reject(new Error('late'));
    await expect(wait).resolves.toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../client/api-client/index.js';
import {
  KeyLockHeldError,
  KeyLockLostError,
  LeaseLostError,
  NewerStateError,
  ShutdownError,
  StaleCacheError,
  SyncTimeoutError,
  TerminalError,
} from '../../machinery/errors/index.js';
import { decideOutcome } from './decide-outcome.js';

const failed = (error: unknown) => decideOutcome({ ended: 'failed', error });
const answer = (code: number, message = 'no') => new ApiStatusError({ code, message });

describe('the outcome of a sync', () => {
  it('is done after success, and comes back when the reconciler asks for it', () => {
    expect(decideOutcome({ ended: 'ok', result: {} })).toEqual({ action: 'done' });
    expect(decideOutcome({ ended: 'ok', result: { requeueAfterMs: 1500 } })).toEqual({
      action: 'requeue-after',
      delayMs: 1500,
    });
  });

  it('is a retry with backoff after an ordinary failure', () => {
    const error = new Error('boom');
    expect(failed(error)).toEqual({ action: 'retry', error, leastDelayMs: 0 });
  });

  it('is a retry with backoff after a sync that took too long, whatever that one threw', () => {
    for (const cause of [undefined, new TerminalError('no'), new ShutdownError('stop')]) {
      const error = new SyncTimeoutError('took too long', { cause });
      expect(failed(error)).toEqual({ action: 'retry', error, leastDelayMs: 0 });
    }
  });

  it('parks the key after a terminal error, also where that is the cause', () => {
    expect(failed(new TerminalError('bad percent')).action).toBe('park');
    expect(failed(new Error('wrapped', { cause: new TerminalError('bad percent') })).action).toBe('park');
  });

  it.each([
    { name: 'is refused', error: answer(422) },
    { name: 'is refused by a policy', error: answer(403, 'pods "web-1" is forbidden: violates PodSecurity') },
    { name: 'finds no room', error: answer(403, 'pods "web-1" is forbidden: exceeded quota: pods') },
  ])(
    'is a retry with the ordinary backoff where a write $name: that may be over at any time',
    ({ error }) => {
      expect(failed(error)).toEqual({ action: 'retry', error, leastDelayMs: 0 });
    },
  );

  it.each([
    { name: 'we are stopping', error: new ShutdownError('stop'), delayMs: 0 },
    { name: 'the lock was lost', error: new KeyLockLostError('lost'), delayMs: 0 },
    { name: 'somebody else works on it', error: new KeyLockHeldError('held'), delayMs: 100 },
    { name: 'a newer release has stored its state', error: new NewerStateError('v2'), delayMs: 1000 },
    { name: 'the cache is behind', error: new StaleCacheError('behind'), delayMs: 200 },
    // At once, it would fail over and over, and the timers that end the leadership would never get their turn.
    { name: 'the lease has run out', error: new LeaseLostError('over'), delayMs: 50 },
  ])('counts no failure against the key when $name', ({ error, delayMs }) => {
    expect(failed(error)).toMatchObject({ action: 'come-back', delayMs });
  });

  it('stays away from a locked key for as long as the lock says', () => {
    expect(failed(Object.assign(new KeyLockHeldError('held'), { retryAfterMs: 40 }))).toMatchObject({
      delayMs: 40,
    });
  });
});

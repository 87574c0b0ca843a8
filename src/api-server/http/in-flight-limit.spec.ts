import { describe, expect, it } from 'vitest';
import { InFlightLimit } from './in-flight-limit.js';

const never = () => new AbortController().signal;

describe('InFlightLimit', () => {
  it('serves some, lets some wait in line, and has no room beyond', async () => {
    const limit = new InFlightLimit({ serving: 1, waiting: 2 });
    const first = limit.enter(never) as () => void;
    const second = limit.enter(never) as Promise<() => void>;
    const third = limit.enter(never) as Promise<() => void>;
    expect(limit.enter(never)).toBeUndefined();
    first();
    (await second)();
    const leave = await third;
    expect(limit.enter(never)).toBeInstanceOf(Promise);
    leave();
  });

  it('forgets who goes while waiting', async () => {
    const limit = new InFlightLimit({ serving: 1, waiting: 1 });
    const first = limit.enter(never) as () => void;
    const client = new AbortController();
    const waiting = limit.enter(() => client.signal) as Promise<() => void>;
    client.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    first();
    expect(limit.enter(never)).toBeInstanceOf(Function);
  });
});

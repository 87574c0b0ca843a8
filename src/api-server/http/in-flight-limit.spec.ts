import { describe, expect, it } from 'vitest';
import { InFlightLimit } from './in-flight-limit.js';

type Leave = () => void;

const never = () => new AbortController().signal;
const limitOf = (serving: number, waiting: number) =>
  new InFlightLimit({ serving, waiting }, () => new Error('too many'));

describe('a bound of the requests under way', () => {
  it('serves some, lets some wait in line, and has no room beyond', async () => {
    const limit = limitOf(1, 2);
    const first = limit.enter('ann', never) as Leave;
    const second = limit.enter('ann', never) as Promise<Leave>;
    const third = limit.enter('ann', never) as Promise<Leave>;
    expect(() => limit.enter('ann', never)).toThrow('too many');
    first();
    (await second)();
    const leave = await third;
    expect(limit.enter('ann', never)).toBeInstanceOf(Promise);
    leave();
  });

  it('forgets who goes while waiting', async () => {
    const limit = limitOf(1, 1);
    const first = limit.enter('ann', never) as Leave;
    const client = new AbortController();
    const waiting = limit.enter('ann', () => client.signal) as Promise<Leave>;
    client.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    first();
    expect(limit.enter('ann', never)).toBeInstanceOf(Function);
  });

  it('gives users turns at the places that become free, however many one of them has waiting', async () => {
    const limit = limitOf(1, 10);
    const served: string[] = [];
    const first = limit.enter('ann', never) as Leave;
    const all = ['ann 1', 'ann 2', 'ann 3', 'bob 1', 'cal 1', 'bob 2'].map(async (request) => {
      const leave = await limit.enter(request.split(' ')[0]!, never);
      served.push(request);
      leave();
    });
    first();
    await Promise.all(all);
    expect(served).toEqual(['ann 1', 'bob 1', 'cal 1', 'ann 2', 'bob 2', 'ann 3']);
  });

  it('lets the last of who waits most make room for somebody who waits less', async () => {
    const limit = limitOf(1, 3);
    const first = limit.enter('ann', never) as Leave;
    const anns = [1, 2, 3].map(() => limit.enter('ann', never) as Promise<Leave>);
    const bob = limit.enter('bob', never) as Promise<Leave>;
    await expect(anns[2]).rejects.toThrow('too many');
    // Now each has a fair share: nobody else has to go for them.
    expect(() => limit.enter('bob', never)).toThrow('too many');
    first();
    (await anns[0]!)();
    (await bob)();
    (await anns[1]!)();
    expect(limit.enter('bob', never)).toBeInstanceOf(Function);
  });
});

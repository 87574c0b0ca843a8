import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { InFlightLimit } from './in-flight-limit.js';

type Leave = () => void;

const never = () => new AbortController().signal;
const refusal = (): Error => new Error('too many');
const limitOf = (serving: number, waiting: number) =>
  new InFlightLimit({ serving, waiting }, { clock: new FakeClock(), refusal });

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
    // Now each has a fair share: no other request is evicted for them.
    expect(() => limit.enter('bob', never)).toThrow('too many');
    first();
    (await anns[0]!)();
    (await bob)();
    (await anns[1]!)();
    expect(limit.enter('bob', never)).toBeInstanceOf(Function);
  });

  it('keeps a quarter of the places for those who have less than their share, whatever one user holds', () => {
    const limit = limitOf(8, 8);
    const anns = Array.from({ length: 8 }, () => limit.enter('ann', never));
    expect(anns.filter((place) => typeof place === 'function')).toHaveLength(6);
    expect(limit.enter('bob', never)).toBeInstanceOf(Function);
    expect(limit.enter('cal', never)).toBeInstanceOf(Function);
    expect(limit.enter('dan', never)).toBeInstanceOf(Promise);
  });

  it('gives a place that becomes free to who may have it, past those who have their share', async () => {
    const limit = limitOf(4, 8);
    const leaves = [1, 2, 3].map(() => limit.enter('ann', never) as Leave);
    const more = limit.enter('ann', never) as Promise<Leave>;
    const bob = limit.enter('bob', never) as Leave;
    const cal = limit.enter('cal', never) as Promise<Leave>;
    bob();
    (await cal)();
    leaves[0]!();
    (await more)();
  });

  it('lets all in whose shares grow when the last request of another ends', async () => {
    const limit = limitOf(20, 8);
    for (const [flow, times] of [
      ['ann', 4],
      ['bob', 4],
      ['dan', 7],
    ] as const)
      for (let count = 0; count < times; count++) void limit.enter(flow, never);
    const cal = limit.enter('cal', never) as Leave;
    const more = ['ann', 'bob'].map((flow) => limit.enter(flow, never) as Promise<Leave>);
    for (const waiting of more) expect(waiting).toBeInstanceOf(Promise);
    cal();
    await Promise.all(more);
  });

  it('refuses who has waited for too long', async () => {
    const clock = new FakeClock();
    const limit = new InFlightLimit({ serving: 1, waiting: 1, waitMs: 15_000 }, { clock, refusal });
    const first = limit.enter('ann', never) as Leave;
    const waiting = limit.enter('ann', never) as Promise<Leave>;
    await clock.advance(14_999);
    const refused = expect(waiting).rejects.toThrow('too many');
    await clock.advance(1);
    await refused;
    expect(limit.enter('bob', never)).toBeInstanceOf(Promise);
    first();
  });
});

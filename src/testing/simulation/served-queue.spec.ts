import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { ServedQueue } from './served-queue.js';

const LOCK_MS = 2000;
const LOST_AFTER_MS = LOCK_MS + 300;

describe('a queue that is served to other processes', () => {
  let clock: FakeClock;
  let served: ServedQueue;

  beforeEach(() => {
    clock = new FakeClock();
    served = new ServedQueue('test', clock, { lockDurationMs: LOCK_MS });
  });

  it('hands a key out once, and again when its hold has expired', async () => {
    await served.queue.add('ns/a');
    expect(await served.take(0)).toMatchObject({ item: { key: 'ns/a' } });
    const other = served.take(LOST_AFTER_MS + 1);
    await clock.advance(LOST_AFTER_MS - 1);
    expect(served.stalled).toBe(0);
    await clock.advance(2);
    expect(await other).toMatchObject({ item: { key: 'ns/a' } });
    expect(served.stalled).toBe(1);
  });

  it('keeps a key for a consumer that renews its hold', async () => {
    await served.queue.add('ns/a');
    const taken = await served.take(0);
    for (let renewals = 0; renewals < 3; renewals++) {
      await clock.advance(LOCK_MS);
      expect(await served.renew(taken!.run)).toBe(true);
    }
    expect(served.stalled).toBe(0);
  });

  it('ignores the end of a run whose hold has expired, and does not renew it', async () => {
    await served.queue.add('ns/a');
    const first = await served.take(0);
    await clock.advance(LOST_AFTER_MS);
    const second = await served.take(0);
    await served.finish(first!.run);
    expect(await served.renew(first!.run)).toBe(false);
    expect(await served.queue.counts()).toMatchObject({ active: 1 });
    await served.finish(second!.run);
    expect(await served.queue.counts()).toMatchObject({ active: 0, waiting: 0 });
  });

  it('answers without a key when none has come in time, and leaves no timer', async () => {
    const taken = served.take(100);
    await clock.advance(100);
    expect(await taken).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses the adds of a term that has not begun here, or that another has followed', async () => {
    const first = { epoch: 1, holder: 'a' };
    expect(() => served.inTerm(first)).toThrow('no term has begun');
    await served.beginTerm(first);
    await served.inTerm(first).add('ns/a');
    await served.beginTerm({ epoch: 2, holder: 'b' });
    expect(() => served.inTerm(first)).toThrow('the term of epoch 2 has begun');
  });
});

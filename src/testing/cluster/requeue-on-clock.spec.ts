import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { MemoryWorkQueue } from '../../runtime/work-queue/index.js';
import { requeueOnClock } from './requeue-on-clock.js';

function setUp() {
  const [machine, cluster] = [new FakeClock(), new FakeClock(Date.UTC(2030, 0, 1))];
  const inner = new MemoryWorkQueue({ name: 'test', clock: machine });
  return { machine, cluster, inner, queue: requeueOnClock(inner, cluster, silentLogger) };
}

describe('a queue whose requeues wait on another clock', () => {
  it('gives a requeued key out when that clock has come there, however far the machine is', async () => {
    const { cluster, inner, machine, queue } = setUp();
    await queue.addAfter('a', 60_000, { reason: 'requeue' });
    await machine.advance(3_600_000);
    await cluster.advance(59_999);
    expect(inner.takeNext()).toBeUndefined();
    await cluster.advance(1);
    expect(inner.takeNext()).toMatchObject({ key: 'a', reason: 'requeue' });
  });

  it('leaves every other delay to the machine', async () => {
    const { cluster, inner, machine, queue } = setUp();
    await queue.addAfter('a', 50, { reason: 'child-change' });
    await queue.addRateLimited('b', new Error('again'));
    await cluster.advance(3_600_000);
    expect(inner.takeNext()).toBeUndefined();
    await machine.advance(50);
    expect([inner.takeNext()?.key, inner.takeNext()?.key].sort()).toEqual(['a', 'b']);
  });

  it('keeps the earlier of two requeues of a key, whichever came first', async () => {
    for (const delays of [
      [10, 20],
      [20, 10],
    ]) {
      const { cluster, inner, queue } = setUp();
      for (const delayMs of delays) await queue.addAfter('a', delayMs, { reason: 'requeue' });
      await cluster.advance(10);
      expect(inner.takeNext()?.key).toBe('a');
      inner.done('a');
      await cluster.advance(100);
      expect(inner.takeNext()).toBeUndefined();
    }
  });

  it('shows what waits there, so that nobody takes the key for lost', async () => {
    const { cluster, queue } = setUp();
    await queue.addAfter('a', 60_000, { reason: 'requeue' });
    const delayed = { key: 'a', dueMs: cluster.now() + 60_000, reason: 'requeue', failures: 0 };
    expect(await queue.inspectKey('a')).toMatchObject({ delayed });
    expect(await queue.inspect(10)).toMatchObject({ delayed: [delayed] });
    expect(await queue.counts()).toMatchObject({ delayed: 1, waiting: 0 });
  });

  it('asks the queue itself whose adds count', async () => {
    const { inner, queue } = setUp();
    await queue.beginTerm({ epoch: 2, holder: 'a' });
    await expect(inner.beginTerm({ epoch: 1, holder: 'b' })).rejects.toMatchObject({ code: 'SUPERSEDED' });
  });

  it('forgets it when the key is purged, and when it is closed', async () => {
    const { cluster, inner, queue } = setUp();
    await queue.addAfter('a', 10, { reason: 'requeue' });
    await queue.addAfter('b', 10, { reason: 'requeue' });
    expect([await queue.purge('a'), await queue.purge('a')]).toEqual([true, false]);
    await queue.close();
    expect(cluster.pendingTimers).toBe(0);
    await cluster.advance(100);
    expect(inner.takeNext()).toBeUndefined();
  });
});

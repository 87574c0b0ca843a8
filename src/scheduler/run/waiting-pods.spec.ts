import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { PermitQueue } from './waiting-pods.js';

const pod = aPod({ name: 'p' });

describe('a pod that waits for permits', () => {
  it('goes on once every plug-in has allowed it', async () => {
    const queue = new PermitQueue(new FakeClock());
    const verdict = queue.wait(pod, 'a', [{ plugin: 'One' }, { plugin: 'Two' }]);
    queue.get('uid-p')?.allow('One');
    expect(queue.list()[0]?.pendingPlugins).toEqual(['Two']);
    queue.get('uid-p')?.allow('Two');
    expect(await verdict).toBeUndefined();
    expect(queue.list()).toEqual([]);
  });

  it('is refused by the first that rejects it', async () => {
    const clock = new FakeClock();
    const queue = new PermitQueue(clock);
    const verdict = queue.wait(pod, 'a', [{ plugin: 'One' }, { plugin: 'Two' }]);
    queue.get('uid-p')?.reject('Two', 'no');
    expect(await verdict).toMatchObject({ code: 'Unschedulable', reasons: ['no'], plugin: 'Two' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits no longer than the plug-in wants', async () => {
    const clock = new FakeClock();
    const queue = new PermitQueue(clock);
    const verdict = queue.wait(pod, 'a', [{ plugin: 'One', timeoutMs: 500 }]);
    await clock.advance(500);
    expect(await verdict).toMatchObject({ plugin: 'One' });
  });
});

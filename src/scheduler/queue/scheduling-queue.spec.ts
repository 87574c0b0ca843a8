import { describe, expect, it } from 'vitest';
import { aQueue, nodeChange, refusedBy, waitingPod } from './scheduling-queue.fixture.js';

type World = ReturnType<typeof aQueue>;

/** Adds a pod, and refuses it as often as asked for. */
async function refused(world: World, pod = waitingPod('a'), plugins = ['Cpu'], times = 1) {
  world.queue.add(pod);
  for (let time = 1; time <= times; time++) {
    const entry = await world.take();
    if (!entry) throw new Error('there is no pod');
    world.queue.putBack(entry, refusedBy(...plugins));
    if (time < times) world.queue.activateNow(pod);
  }
}

describe('the active queue', () => {
  it('gives out the pod of the highest priority first, then the one that came first', async () => {
    const { clock, queue, take } = aQueue();
    for (const [name, priority] of [
      ['a', 0],
      ['b', 0],
      ['c', 10],
    ] as const) {
      queue.add(waitingPod(name, { priority }));
      await clock.advance(1);
    }
    const names = [await take(), await take(), await take()].map((entry) => entry?.pod.metadata.name);
    expect(names).toEqual(['c', 'a', 'b']);
  });

  it('gives out the newest state of a pod', async () => {
    const { queue, take } = aQueue();
    const pod = waitingPod('a');
    queue.add(pod);
    queue.update(pod, { ...pod, metadata: { ...pod.metadata, labels: { new: 'yes' } } });
    expect((await take())?.pod.metadata.labels).toEqual({ new: 'yes' });
  });

  it('counts the attempts', async () => {
    const world = aQueue();
    await refused(world, waitingPod('a'), ['Cpu'], 3);
    expect(world.queue.find('uid-a')?.entry.attempts).toBe(3);
  });

  it('gives nothing once it is closed, and keeps no timer', async () => {
    const world = aQueue();
    await refused(world);
    world.queue.move(nodeChange('add'));
    const waiting = world.queue.pop();
    world.queue.close();
    await waiting;
    expect(await world.queue.pop()).toBeUndefined();
    expect(world.clock.pendingTimers).toBe(0);
  });
});

describe('a refused pod', () => {
  it('is counted for each plug-in that refused it, until it is tried again', async () => {
    const world = aQueue();
    await refused(world, waitingPod('a'), ['Cpu', 'Taints']);
    await refused(world, waitingPod('b'), ['Cpu']);
    const profile = 'default-scheduler';
    expect(world.queue.refused()).toEqual([
      { plugin: 'Cpu', profile, count: 2 },
      { plugin: 'Taints', profile, count: 1 },
    ]);
    world.queue.activateNow(waitingPod('a'));
    expect(world.queue.refused()).toEqual([{ plugin: 'Cpu', profile, count: 1 }]);
  });

  it('sleeps until something happens that helps the plug-in which refused it', async () => {
    const world = aQueue();
    await refused(world);
    world.queue.move(nodeChange('update-node-taints'));
    expect(world.queue.counts()).toMatchObject({ unschedulable: 1, backoff: 0 });
    world.queue.move(nodeChange('update-node-allocatable'));
    expect(world.queue.counts()).toMatchObject({ unschedulable: 0, backoff: 1 });
  });

  it('is woken by what helps any of the plug-ins that refused it', async () => {
    const world = aQueue();
    await refused(world, waitingPod('a'), ['Cpu', 'Taints']);
    world.queue.move(nodeChange('update-node-taints'));
    expect(world.queue.counts().unschedulable).toBe(0);
  });

  it('is woken by everything if its plug-in names nothing', async () => {
    const world = aQueue();
    await refused(world, waitingPod('a'), ['Unknown']);
    world.queue.move({ resource: 'services', actions: ['add'] });
    expect(world.queue.counts().unschedulable).toBe(0);
  });

  it('is asked about by the hint, and woken if the hint throws', async () => {
    const seen: string[] = [];
    const hint = (pod: { metadata: { name: string } }) => {
      seen.push(pod.metadata.name);
      if (seen.length > 1) throw new Error('no');
      return 'QueueSkip' as const;
    };
    const hints = new Map([['Cpu', [{ event: { resource: 'nodes', actions: ['add'] } as const, hint }]]]);
    const world = aQueue({ hints });
    await refused(world);
    world.queue.move(nodeChange('add'));
    expect(world.queue.counts().unschedulable).toBe(1);
    world.queue.move(nodeChange('add'));
    expect(world.queue.counts().unschedulable).toBe(0);
    expect(seen).toEqual(['a', 'a']);
  });

  it('is taken out of backoff early while nothing else is to be tried', async () => {
    const world = aQueue();
    await refused(world);
    world.queue.move(nodeChange('add'));
    world.queue.add(waitingPod('b'));
    expect((await world.take())?.pod.metadata.name).toBe('b');
    expect((await world.take())?.pod.metadata.name).toBe('a');
  });

  it('goes on at once when something under way that it waits for helps', async () => {
    const world = aQueue();
    world.queue.add(waitingPod('a'));
    const entry = await world.take();
    if (entry) world.queue.putBack(entry, { refusedBy: new Set(), pendingOn: new Set(['Cpu']) });
    world.queue.move(nodeChange('add'));
    expect(world.queue.counts()).toMatchObject({ active: 1, backoff: 0 });
  });

  it('is tried again after five minutes, whatever happened', async () => {
    const world = aQueue();
    await refused(world);
    await world.clock.advance(299_000);
    expect(world.queue.counts().unschedulable).toBe(1);
    await world.clock.advance(31_000);
    expect(world.queue.counts().active).toBe(1);
  });

  it('is gone once it is deleted', async () => {
    const world = aQueue();
    await refused(world);
    world.queue.delete(waitingPod('a'));
    world.queue.move(nodeChange('add'));
    expect(await world.take()).toBeUndefined();
    expect(world.queue.has('uid-a')).toBe(false);
  });
});

it.each([
  [1, 1000],
  [2, 2000],
  [3, 4000],
  [4, 8000],
  [5, 10_000],
  [9, 10_000],
])('after attempt %i in vain a pod is held back for %i ms', async (times, ms) => {
  const world = aQueue();
  await refused(world, waitingPod('a'), ['Cpu'], times);
  expect(world.queue.find('uid-a')?.entry.backoffUntilMs).toBe(world.clock.monotonicNow() + ms);
});

describe('an attempt that failed by an error', () => {
  it('is repeated after its backoff and not before, though nothing else is to be tried', async () => {
    const world = aQueue();
    world.queue.add(waitingPod('a'));
    const entry = await world.take();
    if (entry) world.queue.putBack(entry, { error: true });
    const next = world.take();
    await world.clock.advance(999);
    expect(await next).toBeUndefined();
    await world.clock.advance(1);
    expect(world.queue.has('uid-a')).toBe(true);
    expect(world.queue.counts().backoff).toBe(0);
  });
});

describe('a change during an attempt', () => {
  it('counts as if it came after it if it helps', async () => {
    const world = aQueue();
    world.queue.add(waitingPod('a'));
    const entry = await world.take();
    world.queue.move(nodeChange('update-node-allocatable'));
    if (entry) world.queue.putBack(entry, refusedBy('Cpu'));
    expect(world.queue.counts().backoff).toBe(1);
  });

  it('before it does not', async () => {
    const world = aQueue();
    world.queue.add(waitingPod('b'));
    await world.take();
    world.queue.move(nodeChange('update-node-allocatable'));
    world.queue.add(waitingPod('a'));
    const entry = await world.take();
    if (entry) world.queue.putBack(entry, refusedBy('Cpu'));
    expect(world.queue.counts().unschedulable).toBe(1);
  });

  it('gives the pod itself the state that it is put back with; a deleted one is not put back', async () => {
    const world = aQueue();
    const [a, b] = [waitingPod('a'), waitingPod('b')];
    world.queue.add(a);
    world.queue.add(b);
    const [first, second] = [await world.take(), await world.take()];
    world.queue.update(a, waitingPod('a', { priority: 7 }));
    world.queue.delete(b);
    if (first) world.queue.putBack(first, refusedBy('Cpu'));
    if (second) world.queue.putBack(second, refusedBy('Cpu'));
    expect(world.queue.find('uid-a')?.entry.pod.spec.priority).toBe(7);
    expect(world.queue.has('uid-b')).toBe(false);
  });
});

describe('a gated pod', () => {
  it('is not tried, and is once its gates are gone', async () => {
    const world = aQueue();
    const gated = waitingPod('a', { gates: ['wait'] });
    world.queue.add(gated);
    expect(world.queue.counts()).toEqual({ active: 0, backoff: 0, unschedulable: 0, gated: 1 });
    world.queue.update(gated, { ...gated, metadata: { ...gated.metadata, labels: {} } });
    world.queue.move(nodeChange('add'));
    expect(world.queue.counts().gated).toBe(1);
    world.queue.update(gated, waitingPod('a'));
    expect((await world.take())?.attempts).toBe(1);
  });
});

it('every way into a queue is counted by kube-scheduler’s names', async () => {
  const world = aQueue();
  await refused(world);
  world.queue.move(nodeChange('update-node-allocatable'));
  expect(world.incoming).toEqual([
    'active UnscheduledPodAdd',
    'unschedulable ScheduleAttemptFailure',
    'backoff NodeUpdateNodeAllocatable',
  ]);
});

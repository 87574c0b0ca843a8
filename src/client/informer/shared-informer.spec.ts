import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiStatusError } from '../api-client/index.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { Thing } from './informer-harness.fixture.js';
import { InformerHarness } from './informer-harness.fixture.js';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from './informer.js';
import type { SharedInformerOptions } from './shared-informer.options.js';

let harness: InformerHarness;

function make(options: Partial<SharedInformerOptions<Thing>> = {}): InformerHarness {
  harness = new InformerHarness(options);
  return harness;
}

const ownedBy =
  (uid: string) =>
  (object: KubernetesObject): void => {
    object.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Owner', name: uid, uid, controller: true }];
  };

afterEach(async () => {
  await harness.stop();
  expect(harness.clock.pendingTimers, 'a stopped informer leaves no timer').toBe(0);
  expect(harness.server.openWatches, 'a stopped informer leaves no watch').toBe(0);
});

describe('a SharedInformer and its handlers', () => {
  it('lists, then watches from there, and calls its handlers in order', async () => {
    const { server, informer, clock } = make();
    server.put('a', 'x');
    const seen = harness.recordEvents();
    await harness.start();
    server.put('a', 'y');
    server.put('a', 'x');
    server.delete('a', 'y');
    await clock.advance(0);
    expect(seen).toEqual(['added a/x@101 initial', 'added a/y@102', 'modified a/x@103', 'deleted a/y@104']);
    expect(server.requests).toEqual(['list', 'watch 101']);
    expect(informer.lastSyncedResourceVersion).toBe('104');
  });

  it('knows which state shows every deletion that it has seen', async () => {
    const { server, informer, clock } = make();
    server.put('a', 'x');
    await harness.start();
    expect(informer.newestDeletion).toBeUndefined();
    server.delete('a', 'x');
    server.put('a', 'y');
    await clock.advance(0);
    expect(informer.newestDeletion).toBe('102');
    expect(informer.lastSyncedResourceVersion).toBe('103');
  });

  it('knows the newest change that it has seen, whether it was listed, watched or a deletion', async () => {
    const { server, informer, clock } = make();
    expect(informer.newestChangeIn({})).toBeUndefined();
    server.put('a', 'x');
    server.put('a', 'y');
    await harness.start();
    expect(informer.newestChangeIn({})).toBe('102');
    server.put('a', 'x');
    await clock.advance(0);
    expect(informer.newestChangeIn({})).toBe('103');
    server.delete('a', 'y');
    await clock.advance(0);
    expect(informer.newestChangeIn({})).toBe('104');
  });

  it('knows at which state everything was gone that it does not have', async () => {
    const { server, informer, clock } = make();
    expect(informer.absencesSeen()).toBeUndefined();
    server.put('a', 'x');
    await harness.start();
    expect(informer.absencesSeen()).toBe('101');
    server.delete('a', 'x');
    server.put('a', 'y');
    await clock.advance(0);
    expect(informer.absencesSeen()).toBe('102');
  });

  it('shows a late handler everything cached as initial', async () => {
    make().server.put('a', 'x');
    await harness.start();
    harness.server.put('a', 'y');
    await harness.clock.advance(0);
    expect(harness.recordEvents()).toEqual(['added a/x@101 initial', 'added a/y@102 initial']);
  });

  it('shows a handler that is added by a handler each object once', async () => {
    const { server, informer } = make();
    server.put('a', 'x');
    server.put('a', 'y');
    const late: string[] = [];
    const remove = informer.addEventHandler(() => {
      remove();
      informer.addEventHandler((event) => late.push(event.object.metadata.name));
    });
    await harness.start();
    expect(late).toEqual(['x', 'y']);
  });

  it('does not call a handler that was removed, not even for the rest of a list', async () => {
    const { server, informer } = make();
    server.put('a', 'x');
    server.put('a', 'y');
    let calls = 0;
    const remove = informer.addEventHandler(() => {
      calls++;
      remove();
    });
    await harness.start();
    expect(calls).toBe(1);
  });

  it('logs a handler that throws and still calls the others', async () => {
    const error = vi.fn();
    const logger = { ...silentLogger, error, child: () => logger };
    const { server, informer } = make({ logger });
    informer.addEventHandler(() => {
      throw new Error('a bad handler');
    });
    const seen = harness.recordEvents();
    server.put('a', 'x');
    await harness.start();
    server.put('a', 'x');
    await harness.clock.advance(0);
    expect(seen).toEqual(['added a/x@101 initial', 'modified a/x@102']);
    expect(error).toHaveBeenCalledTimes(2);
  });

  it('has a change in the store before any handler hears of it', async () => {
    const { server, informer, clock } = make();
    await harness.start();
    const sizes: number[] = [];
    informer.addEventHandler(() => sizes.push(informer.lister.list().length));
    server.put('a', 'x');
    server.delete('a', 'x');
    await clock.advance(0);
    expect(sizes).toEqual([1, 0]);
  });

  it('repeats what it has at every resync, where one is asked for', async () => {
    const { server, clock } = make({ resyncPeriodMs: 1000 });
    server.put('a', 'x');
    const seen = harness.recordEvents();
    await harness.start();
    await clock.advance(2000);
    expect(seen).toEqual(['added a/x@101 initial', 'modified a/x@101', 'modified a/x@101']);
  });
});

describe('waiting for a SharedInformer', () => {
  it('has synced after the first complete list, also of nothing', async () => {
    const { server, clock, informer } = make();
    server.failNext('list', new Error('connection refused'), 2);
    const synced = vi.fn();
    const waiting = informer.waitForSync(harness.signal).then(synced);
    await harness.start();
    expect(informer.hasSynced).toBe(false);
    expect(synced).not.toHaveBeenCalled();
    await clock.advance(1_000);
    await waiting;
    expect(informer.hasSynced).toBe(true);
  });

  it.each<[string, (h: InformerHarness) => void]>([
    ['an event', (h) => h.server.put('a', 'x')],
    ['a bookmark', (h) => h.server.bookmark()],
  ])('lets go of who waits for a resourceVersion with %s', async (_name, happen) => {
    const { informer, clock } = make();
    await harness.start();
    const done = vi.fn();
    void informer.waitForResourceVersion('101', harness.signal).then(done);
    await clock.advance(0);
    expect(done).not.toHaveBeenCalled();
    happen(harness);
    await clock.advance(0);
    expect(done).toHaveBeenCalledOnce();
  });

  it('lets go of who waits for a resourceVersion with a relist', async () => {
    const { informer, clock, server } = make();
    await harness.start();
    const done = vi.fn();
    void informer.waitForResourceVersion('101', harness.signal).then(done);
    server.breakWatches(new ApiStatusError({ code: 410 }));
    server.put('a', 'x');
    await clock.advance(200);
    expect(done).toHaveBeenCalledOnce();
    expect(server.requests.filter((request) => request === 'list')).toHaveLength(2);
  });

  it('calls its handlers before a waiting caller goes on', async () => {
    const { informer, clock, server } = make();
    await harness.start();
    const order: string[] = [];
    void informer.waitForResourceVersion('101', harness.signal).then(() => order.push('waiter'));
    informer.addEventHandler(() => order.push('handler'));
    server.put('a', 'x');
    await clock.advance(0);
    expect(order).toEqual(['handler', 'waiter']);
  });

  it('resolves at once for what it shows already', async () => {
    make();
    await harness.start();
    await expect(harness.informer.waitForResourceVersion('99', harness.signal)).resolves.toBeUndefined();
  });

  it('compares resourceVersions as numbers', async () => {
    make();
    await harness.start();
    const done = vi.fn();
    harness.informer.waitForResourceVersion('1000', harness.signal).then(done, () => undefined);
    await harness.clock.advance(0);
    expect(done).not.toHaveBeenCalled();
  });

  it('rejects with the reason of the signal, and forgets who waited', async () => {
    make();
    await harness.start();
    const leave = new AbortController();
    const waiting = harness.informer.waitForResourceVersion('101', leave.signal);
    leave.abort(new Error('no more time'));
    await expect(waiting).rejects.toThrow('no more time');
    await expect(harness.informer.waitForSync(leave.signal)).rejects.toThrow('no more time');
  });
});

describe('the cache of a SharedInformer', () => {
  it('finds objects by owner and by namespace', async () => {
    const { server, informer, clock } = make();
    server.put('a', 'x', ownedBy('u1'));
    server.put('b', 'y', ownedBy('u1'));
    server.put('b', 'z', ownedBy('u2'));
    await harness.start();
    const names = (index: string, value: string) =>
      informer.lister.byIndex(index, value).map((object) => object.metadata.name);
    expect(names(OWNER_UID_INDEX, 'u1')).toEqual(['x', 'y']);
    expect(names(NAMESPACE_INDEX, 'b')).toEqual(['y', 'z']);
    server.put('b', 'y', ownedBy('u2'));
    await clock.advance(0);
    expect(names(OWNER_UID_INDEX, 'u1')).toEqual(['x']);
    expect(names(OWNER_UID_INDEX, 'u2')).toEqual(['z', 'y']);
    expect(names(OWNER_UID_INDEX, 'nobody')).toEqual([]);
  });

  it('throws on the spot when somebody changes a cached object', async () => {
    make().server.put('a', 'x', ownedBy('u1'));
    await harness.start();
    harness.server.put('a', 'y', ownedBy('u1'));
    await harness.clock.advance(0);
    for (const key of ['a/x', 'a/y']) {
      const object = harness.informer.lister.get(key) as Thing;
      expect(() => (object.metadata.ownerReferences ?? []).pop()).toThrow(TypeError);
      expect(() => (object.value = 'changed')).toThrow(TypeError);
    }
  });

  it('holds no managedFields', async () => {
    make().server.put('a', 'x', (object) => (object.metadata.managedFields = [{}]));
    await harness.start();
    expect(harness.informer.lister.get('a/x')?.metadata).not.toHaveProperty('managedFields');
  });

  it('goes on with an object that it cannot trim or index', async () => {
    const { server, informer } = make({
      trim: () => {
        throw new Error('cannot trim');
      },
    });
    informer.addIndex('bad', () => {
      throw new Error('cannot index');
    });
    server.put('a', 'x');
    await harness.start();
    expect(harness.cached()).toEqual({ 'a/x': '101' });
  });

  it('goes on with an object whose owners have another type', async () => {
    const { informer, server } = make();
    server.put('a', 'x', (object) => (object.metadata.ownerReferences = 5 as never));
    server.put('a', 'y', ownedBy('u1'));
    await harness.start();
    expect(harness.cached()).toEqual({ 'a/x': '101', 'a/y': '102' });
    expect(informer.lister.byIndex(OWNER_UID_INDEX, 'u1')).toHaveLength(1);
  });

  it('takes no index after it began to run, and does not run twice', async () => {
    make();
    await harness.start();
    expect(() => harness.informer.addIndex('late', () => [])).toThrow('after run');
    await expect(harness.informer.run(harness.signal)).rejects.toThrow('already running');
  });

  it.each([
    ['pageSize', { pageSize: 0 }],
    ['firstBackoffMs', { firstBackoffMs: 100_000 }],
  ])('refuses a wrong %s by its name', async (option, options) => {
    make();
    expect(() => new InformerHarness(options)).toThrow(`informer.${option}`);
  });
});

describe('a SharedInformer that the server does not serve', () => {
  it('says why, is settled though not synced, and begins when it may', async () => {
    const { server, informer, clock } = make();
    const settled = vi.fn();
    server.put('a', 'x');
    server.failNext('list', new ApiStatusError({ code: 403, message: 'you may not list things' }), 3);
    void informer.waitUntilSettled(harness.signal).then(settled);
    await harness.start();
    expect(informer.hasSynced).toBe(false);
    expect(informer.trouble).toEqual({ code: 403, reason: 'you may not list things' });
    expect(settled).toHaveBeenCalled();
    await clock.advance(60_000);
    expect(informer.hasSynced).toBe(true);
    expect(informer.trouble).toBeUndefined();
    expect(harness.cached()).toEqual({ 'a/x': '101' });
  });

  it('is not settled while no answer comes', async () => {
    const { server, informer, clock } = make();
    const settled = vi.fn();
    server.failNext('list', new Error('connection refused'), 3);
    void informer.waitUntilSettled(harness.signal).then(settled);
    await harness.start();
    expect(informer.trouble).toEqual({ reason: 'connection refused' });
    expect(settled).not.toHaveBeenCalled();
    await clock.advance(60_000);
    expect(settled).toHaveBeenCalled();
    expect(informer.trouble).toBeUndefined();
  });

  it('says so also when it is the watch that is refused, and not when a watch breaks or comes too late', async () => {
    const { server, informer, clock } = make();
    await harness.start();
    for (const daily of [new Error('connection reset'), new ApiStatusError({ code: 410 })]) {
      server.breakWatches(daily);
      await clock.advance(0);
      expect(informer.trouble).toBeUndefined();
      await clock.advance(10_000);
    }
    server.failNext('watch', new ApiStatusError({ code: 403, message: 'you may not watch things' }));
    server.endWatches();
    await clock.advance(0);
    expect(informer.trouble).toEqual({ code: 403, reason: 'you may not watch things' });
    await clock.advance(10_000);
    expect(informer.trouble).toBeUndefined();
  });
});

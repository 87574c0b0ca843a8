import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiStatusError, WatchErrorEvent } from '../api-client/index.js';
import type { KubernetesObject } from '../kubernetes/index.js';
import { silentLogger } from '../logging/index.js';
import type { Thing } from '../testing/informer-harness.js';
import { InformerHarness } from '../testing/informer-harness.js';
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
  it('lists, then watches from there, and tells its handlers in order', async () => {
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

  it('logs a handler that throws and tells the others all the same', async () => {
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

describe('a SharedInformer in trouble', () => {
  it('takes up a watch where it broke, without listing again and without losing what happened meanwhile', async () => {
    const { server, clock } = make();
    server.put('a', 'x');
    await harness.start();
    server.breakWatches();
    await clock.advance(0);
    server.put('a', 'y');
    await clock.advance(100);
    expect(server.requests).toEqual(['list', 'watch 101', 'watch 101']);
    expect(harness.cached()).toEqual({ 'a/x': '101', 'a/y': '102' });
  });

  it('resumes after the last bookmark rather than after the last object', async () => {
    const { server, clock, informer } = make();
    await harness.start();
    server.bookmark();
    await clock.advance(6_000);
    expect(informer.lastSyncedResourceVersion).toBe('101');
    server.endWatches();
    await clock.advance(0);
    expect(server.requests).toEqual(['list', 'watch 100', 'watch 101']);
  });

  it.each([
    ['410', () => new ApiStatusError({ code: 410 })],
    ['an ERROR event', () => new WatchErrorEvent({ code: 500, reason: 'InternalError' })],
  ])('lists again after %s and shows deletions that it only sees by absence', async (_name, error) => {
    const { server, clock } = make();
    server.put('a', 'x');
    server.put('a', 'y');
    const seen = harness.recordEvents();
    await harness.start();
    server.silenceWatches();
    server.delete('a', 'x');
    server.put('a', 'y');
    server.put('a', 'z');
    server.compact();
    await clock.advance(1);
    expect(seen).toHaveLength(2);
    harness.server.failNext('watch', error());
    await clock.advance(250_000);
    expect(seen.slice(2)).toEqual(['deleted a/x@101 unknown', 'modified a/y@104', 'added a/z@105']);
    expect(harness.cached()).toEqual(harness.stored());
  });

  it('notices a connection on which nothing arrives any more, and comes back', async () => {
    const { server, clock } = make({ watchTimeoutSeconds: 10, idleGraceMs: 5_000 });
    await harness.start();
    server.silenceWatches();
    server.put('a', 'x');
    await clock.advance(14_000);
    expect(harness.cached()).toEqual({});
    await clock.advance(12_000);
    expect(harness.cached()).toEqual({ 'a/x': '101' });
  });

  it('survives a storm of errors with growing pauses, at most 30 s long, and then is up to date', async () => {
    const { server, clock } = make();
    await harness.start();
    server.breakWatches();
    server.failNext('watch', new Error('connection refused'), 40);
    server.put('a', 'x');
    const begun = () => server.requests.length;
    await clock.advance(1_000);
    const inFirstSecond = begun();
    expect(inFirstSecond).toBeGreaterThanOrEqual(4);
    await clock.advance(60_000);
    const before = begun();
    await clock.advance(600_000);
    expect(begun() - before).toBeLessThanOrEqual(40);
    expect(begun() - before).toBeGreaterThanOrEqual(19);
    await clock.advance(600_000);
    expect(harness.cached()).toEqual(harness.stored());
  });

  it('begins with short pauses again after a time of health', async () => {
    const { server, clock } = make();
    await harness.start();
    server.breakWatches();
    server.failNext('watch', new Error('connection refused'), 12);
    await clock.advance(300_000);
    expect(server.openWatches).toBe(1);
    await clock.advance(10_000);
    server.breakWatches();
    const before = server.requests.length;
    await clock.advance(101);
    expect(server.requests.length).toBe(before + 1);
  });

  it('never asks in a hot loop, however the server alternates between list and expired watch', async () => {
    const { server, clock } = make();
    server.failNext('watch', new ApiStatusError({ code: 410 }), 1000);
    await harness.start();
    await clock.advance(60_000);
    expect(server.requests.length).toBeLessThan(40);
  });

  it('lists in pages, and in one piece when the pages expired under it', async () => {
    const { server, clock } = make({ pageSize: 2 });
    for (const name of ['u', 'v', 'w', 'x', 'y']) server.put('a', name);
    await harness.start();
    expect(server.requests.slice(0, 3)).toEqual(['list', 'page', 'page']);
    expect(Object.keys(harness.cached())).toHaveLength(5);

    server.requests.length = 0;
    server.delete('a', 'u');
    server.failNext('page', new ApiStatusError({ code: 410 }));
    server.breakWatches(new ApiStatusError({ code: 410 }));
    await clock.advance(1_000);
    expect(server.requests).toEqual(['list', 'page', 'list whole', 'watch 106']);
    expect(harness.cached()).toEqual(harness.stored());
  });

  it('keeps showing the old state, whole, until a list is complete', async () => {
    const { server, clock } = make({ pageSize: 2 });
    for (const name of ['u', 'v', 'w']) server.put('a', name);
    await harness.start();
    server.breakWatches(new ApiStatusError({ code: 410 }));
    server.failNext('list', new Error('connection refused'), 3);
    server.delete('a', 'u');
    await clock.advance(150);
    expect(Object.keys(harness.cached())).toEqual(['a/u', 'a/v', 'a/w']);
    await clock.advance(5_000);
    expect(Object.keys(harness.cached())).toEqual(['a/v', 'a/w']);
  });

  it('ignores an event older than what it shows', async () => {
    const { server, clock, informer } = make();
    const old = server.put('a', 'x');
    server.put('a', 'x');
    const seen = harness.recordEvents();
    await harness.start();
    server.sendRaw({ type: 'MODIFIED', object: old });
    server.sendRaw({ type: 'DELETED', object: old });
    await clock.advance(0);
    expect(seen).toEqual(['added a/x@102 initial']);
    expect(informer.lastSyncedResourceVersion).toBe('102');
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

  it('has told its handlers before who waited goes on', async () => {
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

  it('asks the server for one namespace and picks several itself', async () => {
    const { server, clock, informer } = make({ namespaces: ['a', 'b'] });
    for (const namespace of ['a', 'b', 'c']) server.put(namespace, 'x');
    await harness.start();
    server.put('c', 'y');
    await clock.advance(0);
    expect(Object.keys(harness.cached())).toEqual(['a/x', 'b/x']);
    // What it does not keep, it has seen nevertheless.
    expect(informer.lastSyncedResourceVersion).toBe('104');
  });

  it('takes no index after it began to run, and does not run twice', async () => {
    make();
    await harness.start();
    expect(() => harness.informer.addIndex('late', () => [])).toThrow('after run');
    await expect(harness.informer.run(harness.signal)).rejects.toThrow('runs already');
  });

  it.each([
    ['pageSize', { pageSize: 0 }],
    ['firstBackoffMs', { firstBackoffMs: 100_000 }],
  ])('refuses a wrong %s by its name', async (option, options) => {
    make();
    expect(() => new InformerHarness(options)).toThrow(`informer.${option}`);
  });
});

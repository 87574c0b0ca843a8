import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiStatusError } from '../api-client/index.js';
import { newerResourceVersion } from '../../machinery/kubernetes/index.js';
import type { Thing } from './informer-harness.fixture.js';
import { InformerHarness } from './informer-harness.fixture.js';
import type { SharedInformerOptions } from './shared-informer.options.js';

let harness: InformerHarness;

async function start(options: Partial<SharedInformerOptions<Thing>> = {}): Promise<InformerHarness> {
  harness = new InformerHarness(options);
  return harness.start();
}

afterEach(async () => {
  await harness.stop();
  expect(harness.clock.pendingTimers, 'a stopped informer leaves no timer').toBe(0);
  expect(harness.server.openWatches, 'a stopped informer leaves no watch').toBe(0);
});

/** Whether a wait has ended. */
function waitFor(version: string, namespace?: string): { readonly isOver: boolean } {
  const done = vi.fn();
  const { informer, signal } = harness;
  informer.waitForResourceVersion(version, signal, { namespace }).then(done, () => undefined);
  return {
    get isOver() {
      return done.mock.calls.length > 0;
    },
  };
}

/** As in the KEP, but without an order: versions are only equal or not. */
const opaque = (revision: number): string =>
  `x${String(revision * 7919)
    .split('')
    .toReversed()
    .join('')}`;

describe('a wait that takes long', () => {
  it('replaces a watch that is dead without a word, long before its time is over', async () => {
    const { clock, server } = await start();
    server.silenceWatches();
    server.put('a', 'x');
    const wait = waitFor('101');
    await clock.advance(1_900);
    expect(wait.isOver).toBe(false);
    await clock.advance(200);
    expect(wait.isOver).toBe(true);
    expect(server.requests).toEqual(['list', 'watch 100', 'check', 'watch 100']);
    expect(harness.cached()).toEqual({ 'a/x': '101' });
  });

  it('leaves a watch alone on which something arrives', async () => {
    const { clock, server } = await start();
    const wait = waitFor('200');
    for (let second = 0; second < 5; second++) {
      server.put('a', 'x');
      await clock.advance(1_000);
    }
    expect(server.requests.filter((request) => request.startsWith('watch'))).toHaveLength(1);
    expect(wait.isOver, 'what was waited for is ahead of what the server had at the check').toBe(true);
  });

  it('asks with growing pauses while the server does not get there', async () => {
    const { clock, server } = await start();
    server.failNext('check', new Error('connection refused'), 100);
    waitFor('101');
    await clock.advance(60_000);
    const checks = server.requests.filter((request) => request === 'check').length;
    expect(checks).toBeGreaterThanOrEqual(4);
    expect(checks).toBeLessThanOrEqual(7);
  });

  it('asks nothing where nobody waits any more', async () => {
    const { clock, informer, server } = await start();
    const leave = new AbortController();
    const waiting = informer.waitForResourceVersion('101', leave.signal);
    leave.abort(new Error('no more time'));
    await expect(waiting).rejects.toThrow('no more time');
    await clock.advance(10_000);
    expect(server.requests).not.toContain('check');
  });
});

describe('a server that forgets', () => {
  it('is listed again when it comes back from an older backup, and not believed to be silent', async () => {
    const { clock, server } = await start();
    server.put('a', 'x');
    await clock.advance(0);
    const backup = server.state();
    for (let i = 0; i < 50; i++) server.put('a', 'y');
    await clock.advance(0);
    server.restore(backup, 120);
    await clock.advance(200);
    expect(harness.cached()).toEqual({ 'a/x': '101' });
    // Without the list these would be older than the start of the watch, and never be sent.
    server.put('a', 'x');
    await clock.advance(0);
    expect(harness.cached()).toEqual({ 'a/x': '121' });
  });

  it('is found out by a wait for what it has lost, where no watch broke', async () => {
    const { clock, server } = await start();
    for (let i = 0; i < 50; i++) server.put('a', 'y');
    await clock.advance(0);
    server.silenceWatches();
    server.restore(new Map(), 120);
    const wait = waitFor('160');
    await clock.advance(2_500);
    expect(wait.isOver).toBe(true);
    expect(harness.cached()).toEqual({});
  });

  it('is not waited for: what a key remembers from the future needs no more than the present', async () => {
    const { clock, server } = await start();
    server.put('a', 'x');
    const first = waitFor('5000');
    await clock.advance(1_900);
    expect(first.isOver).toBe(false);
    await clock.advance(200);
    expect(first.isOver).toBe(true);

    // A waiter for the same version is not delayed any more, but must see what was written since.
    server.silenceWatches();
    server.put('a', 'x');
    const second = waitFor('5000');
    await clock.advance(0);
    expect(second.isOver).toBe(false);
    await clock.advance(2_100);
    expect(second.isOver).toBe(true);
    expect(harness.cached()).toEqual({ 'a/x': '102' });
    const third = waitFor('4000');
    await clock.advance(1);
    expect(third.isOver, 'a check, and no waiting').toBe(true);
  });

  it('is not mistaken, if it never gets there, for one that lost it while it cannot be asked', async () => {
    const { clock, server } = await start();
    server.failNext('check', new ApiStatusError({ code: 503 }), 3);
    const wait = waitFor('5000');
    await clock.advance(10_000);
    expect(wait.isOver).toBe(false);
    await clock.advance(20_000);
    expect(wait.isOver).toBe(true);
  });
});

describe('versions without an order', () => {
  async function startOpaque(): Promise<InformerHarness> {
    harness = new InformerHarness();
    harness.server.versionOf = opaque;
    return harness.start();
  }

  it('are applied in the order of the watch', async () => {
    const { clock, server, informer } = await startOpaque();
    server.put('a', 'x');
    server.put('a', 'x');
    server.put('a', 'y');
    server.delete('a', 'y');
    await clock.advance(0);
    expect(harness.cached()).toEqual({ 'a/x': opaque(102) });
    expect(informer.lastSyncedResourceVersion).toBe(opaque(104));
    expect(informer.hasSeen(opaque(101)), 'it went by').toBe(true);
    expect(informer.hasSeen(opaque(105))).toBe(false);
  });

  it('are waited for until they go by', async () => {
    const { clock, server } = await startOpaque();
    const wait = waitFor(opaque(102));
    server.put('a', 'x');
    await clock.advance(0);
    expect(wait.isOver).toBe(false);
    server.put('a', 'x');
    await clock.advance(0);
    expect(wait.isOver).toBe(true);
    expect(server.requests).toEqual(['list', `watch ${opaque(100)}`]);
  });

  it('are waited for until a list that began later, where they went by unseen', async () => {
    const { clock, server } = await startOpaque();
    server.silenceWatches();
    server.put('a', 'x');
    server.put('a', 'x');
    const wait = waitFor(opaque(101));
    await clock.advance(2_100);
    expect(wait.isOver).toBe(true);
    expect(harness.cached()).toEqual({ 'a/x': opaque(102) });
    expect(server.requests.slice(2, 4)).toEqual(['check', 'list']);
  });

  it('are met by a list at once where they are several, and remembered', async () => {
    const { clock, informer, server } = await startOpaque();
    const both = newerResourceVersion(opaque(101), opaque(102));
    server.put('a', 'x');
    server.put('a', 'y');
    await clock.advance(0);
    server.put('a', 'z');
    const wait = waitFor(both);
    await clock.advance(1);
    expect(wait.isOver).toBe(true);
    expect(informer.hasSeen(both)).toBe(true);
    expect(harness.cached()).toEqual(harness.stored());
  });
});

describe('several namespaces', () => {
  it('are listed and watched one by one, into one cache', async () => {
    harness = new InformerHarness({ namespaces: ['a', 'b'] });
    const { clock, informer, server } = harness;
    for (const namespace of ['a', 'b', 'c']) server.put(namespace, 'x');
    const seen = harness.recordEvents();
    await harness.start();
    server.put('b', 'y');
    server.put('c', 'y');
    await clock.advance(0);
    expect(Object.keys(harness.cached())).toEqual(['a/x', 'b/x', 'b/y']);
    expect(seen).toEqual(['added a/x@101 initial', 'added b/x@102 initial', 'added b/y@104']);
    expect(server.requests.toSorted()).toEqual(
      ['list in a', 'list in b', 'watch 103 in a', 'watch 103 in b'].toSorted(),
    );
    expect(informer.lastSyncedResourceVersion, 'of the one that is behind').toBe('103');
  });

  it('let go of who waits for an object when its own has got there, however quiet the others are', async () => {
    const { clock, server } = await start({ namespaces: ['a', 'b'] });
    server.put('a', 'x');
    const [inA, inB, inAll] = [waitFor('101', 'a'), waitFor('101', 'b'), waitFor('101')];
    await clock.advance(0);
    expect([inA.isOver, inB.isOver, inAll.isOver]).toEqual([true, false, false]);
    expect(harness.informer.hasSeen('101', { namespace: 'a' })).toBe(true);
    expect(harness.informer.hasSeen('101')).toBe(false);
    server.bookmark();
    await clock.advance(0);
    expect([inB.isOver, inAll.isOver]).toEqual([true, true]);
  });

  it('lose nothing of each other when one is listed again', async () => {
    const { clock, server } = await start({ namespaces: ['a', 'b'] });
    server.put('a', 'x');
    server.put('b', 'y');
    await clock.advance(0);
    server.delete('b', 'y');
    await clock.advance(0);
    server.breakWatches(new ApiStatusError({ code: 410 }));
    await clock.advance(1_000);
    expect(harness.cached()).toEqual({ 'a/x': '101' });
    expect(harness.informer.newestDeletionIn({ namespace: 'b' })).toBe('103');
    expect(harness.informer.newestDeletionIn({ namespace: 'a' })).toBeUndefined();
    expect(harness.informer.absencesSeen({ namespace: 'b' })).toBe('103');
  });

  it('have synced when all have, and name those that have not', async () => {
    harness = new InformerHarness({ namespaces: ['a', 'b'] });
    harness.server.failNext('list', new ApiStatusError({ code: 403 }));
    await harness.start();
    expect(harness.informer.hasSynced).toBe(false);
    expect(harness.informer.unsyncedNamespaces).toEqual(['a']);
    await harness.clock.advance(1_000);
    expect(harness.informer.hasSynced).toBe(true);
    expect(harness.informer.unsyncedNamespaces).toEqual([]);
  });
});

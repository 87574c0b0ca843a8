import { afterEach, describe, expect, it } from 'vitest';
import { ApiStatusError, WatchErrorEvent } from '../api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import type { Logger } from '../../machinery/logging/index.js';
import type { Thing } from './informer-harness.fixture.js';
import { InformerHarness } from './informer-harness.fixture.js';
import type { ListWatcher } from './list-everything.js';
import type { SharedInformerOptions } from './shared-informer.options.js';
import { StreamingLists } from './streaming-lists.js';

let harness: InformerHarness;

function make(options: Partial<SharedInformerOptions<Thing>> = {}): InformerHarness {
  harness = new InformerHarness(options);
  return harness;
}

afterEach(async () => {
  await harness.stop();
  expect(harness.clock.pendingTimers, 'a stopped reflector leaves no timer').toBe(0);
  expect(harness.server.openWatches, 'a stopped reflector leaves no watch').toBe(0);
});

describe('a Reflector in trouble', () => {
  it('takes up a watch where it broke, without listing again and without losing what happened meanwhile', async () => {
    const { server, clock } = make();
    server.put('a', 'x');
    await harness.start();
    server.breakWatches();
    await clock.advance(0);
    server.put('a', 'y');
    await clock.advance(100);
    expect(server.requests).toEqual(['list', 'watch 101', 'check', 'watch 101']);
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
    expect(server.requests).toEqual(['list', 'watch 100', 'check', 'watch 101']);
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
    const { server, clock } = make();
    await harness.start();
    server.silenceWatches();
    server.put('a', 'x');
    await clock.advance(14_000);
    expect(harness.cached()).toEqual({});
    await clock.advance(12_000);
    expect(harness.cached()).toEqual({ 'a/x': '101' });
  });

  it('notices within 30 s, however late in the life of the watch it fell silent', async () => {
    const { server, clock } = make();
    await harness.start();
    for (let second = 1; second < 14; second++) {
      server.put('a', 'x');
      await clock.advance(1_000);
    }
    server.silenceWatches();
    server.put('a', 'y');
    await clock.advance(28_000);
    expect(harness.cached()).toEqual(harness.stored());
  });

  it('lets a quiet watch live until the server ends it, and begins the next one where it ended', async () => {
    const { server, clock } = make({ watchTimeoutSeconds: 15 });
    await harness.start();
    await clock.advance(100_000);
    const [first, ...watches] = server.requests;
    expect(first).toBe('list');
    expect(new Set(watches)).toEqual(new Set(['watch 100']));
    expect(watches.length).toBeGreaterThanOrEqual(5);
    expect(watches.length).toBeLessThanOrEqual(8);
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
    // One check and one watch each time.
    expect(begun() - before).toBeLessThanOrEqual(80);
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
    expect(server.requests.slice(before)).toEqual(['check', expect.stringMatching('^watch')]);
  });

  it('never asks in a hot loop, however the server alternates between list and expired watch', async () => {
    const { server, clock } = make();
    server.failNext('watch', new ApiStatusError({ code: 410 }), 1000);
    await harness.start();
    await clock.advance(60_000);
    expect(server.requests.length).toBeLessThan(40);
  });

  it('reports a refusal once while it goes on, and again after a time of health', async () => {
    const told: string[] = [];
    const tell = (level: string) => (message: string) => void told.push(`${level} ${message}`);
    const logger: Logger = {
      debug: () => undefined,
      info: tell('info'),
      warn: tell('warn'),
      error: tell('error'),
      child: () => logger,
    };
    const { server, clock } = make({ logger });
    const refusal = () => new ApiStatusError({ code: 403, message: 'you may not' });
    server.failNext('list', refusal(), 3);
    await harness.start();
    await clock.advance(10_000);
    expect(told).toEqual(['error the API server refuses']);
    server.failNext('list', refusal(), 2);
    server.breakWatches(new ApiStatusError({ code: 410 }));
    await clock.advance(10_000);
    expect(told.slice(1)).toEqual(['info listing again', 'error the API server refuses']);
  });

  it('takes a kind that the server does not have for no failure', async () => {
    const told: string[] = [];
    const tell = (level: string) => (message: string) => void told.push(`${level} ${message}`);
    const logger: Logger = {
      debug: () => undefined,
      ...{ info: tell('info'), warn: tell('warn'), error: tell('error'), child: () => logger },
    };
    const { server, clock } = make({ logger });
    server.failNext('list', new ApiStatusError({ code: 404, reason: 'NotFound' }), 3);
    await harness.start();
    await clock.advance(10_000);
    expect(told).toEqual(['info the API server does not have the kind']);
  });

  it('waits longer where it is refused than where it gets no answer, if it is told to', async () => {
    const { server, clock } = make({ firstBackoffMs: 100, maxBackoffMs: 100, maxRefusedBackoffMs: 60_000 });
    server.failNext('list', new ApiStatusError({ code: 403 }), 100);
    await harness.start();
    await clock.advance(60_000);
    expect(server.requests.length).toBeLessThan(15);
    const before = server.requests.length;
    await harness.stop();
    make({ firstBackoffMs: 100, maxBackoffMs: 100, maxRefusedBackoffMs: 60_000 });
    harness.server.failNext('list', new Error('connection refused'), 1000);
    await harness.start();
    await harness.clock.advance(60_000);
    expect(harness.server.requests.length).toBeGreaterThan(20 * before);
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

  describe('and waits for a current cache', () => {
    const until = (): { isCurrent: boolean } => {
      const outcome = { isCurrent: false };
      void harness.informer.waitUntilCurrent(harness.signal).then(() => (outcome.isCurrent = true));
      return outcome;
    };

    it('asks nothing of the server while the watch is open', async () => {
      const { server, clock } = make();
      await harness.start();
      const waiting = until();
      await clock.advance(0);
      expect(waiting.isCurrent).toBe(true);
      expect(server.requests).toEqual(['list', 'watch 100']);
    });

    it('lists at once, however long the pause after the failures would be', async () => {
      const { server, clock } = make({ firstBackoffMs: 60_000, maxBackoffMs: 60_000 });
      await harness.start();
      server.breakWatches();
      await clock.advance(0);
      server.put('a', 'x');
      const waiting = until();
      await clock.advance(0);
      expect(waiting.isCurrent).toBe(true);
      expect(harness.cached()).toEqual(harness.stored());
      expect(server.requests).toEqual(['list', 'watch 100', 'list', 'watch 101']);
    });

    it('does not count a list that began before', async () => {
      let release = (): void => undefined;
      let held: Promise<void> | undefined;
      const client: ListWatcher = {
        list: async (type, options) => {
          const page = await harness.server.list(type, options);
          await held;
          return page as never;
        },
        watch: (type, options) => harness.server.watch(type, options) as never,
      };
      const { server, clock } = make({ client });
      await harness.start();
      held = new Promise((resolve) => (release = resolve));
      server.breakWatches(new ApiStatusError({ code: 410 }));
      await clock.advance(100);
      server.put('a', 'x');
      const waiting = until();
      held = undefined;
      release();
      await clock.advance(0);
      expect(waiting.isCurrent).toBe(true);
      expect(harness.cached()).toEqual(harness.stored());
      expect(server.requests.slice(2)).toEqual(['list', 'list', 'watch 101']);
    });

    it('needs no list once a resumed watch has shown what was missed', async () => {
      const { server, clock } = make();
      await harness.start();
      server.breakWatches();
      await clock.advance(0);
      server.put('a', 'x');
      await clock.advance(100);
      const waiting = until();
      await clock.advance(0);
      expect(waiting.isCurrent).toBe(true);
      expect(server.requests).toEqual(['list', 'watch 100', 'check', 'watch 100']);
    });

    it('does not count a resumed watch that has shown only a part of what was missed', async () => {
      const { server, clock, informer } = make();
      await harness.start();
      server.breakWatches();
      await clock.advance(0);
      server.put('a', 'x');
      server.put('a', 'y');
      const shown: string[][] = [];
      const stop = informer.addEventHandler(() => {
        stop();
        void informer.waitUntilCurrent(harness.signal).then(() => shown.push(Object.keys(harness.cached())));
      });
      await clock.advance(100);
      expect(shown).toEqual([['a/x', 'a/y']]);
    });

    it('lists where a resumed watch has shown nothing yet', async () => {
      const { server, clock } = make();
      await harness.start();
      server.breakWatches();
      await clock.advance(100);
      expect(server.requests).toEqual(['list', 'watch 100', 'check', 'watch 100']);
      const waiting = until();
      await clock.advance(0);
      expect(waiting.isCurrent).toBe(true);
      expect(server.requests.slice(4)).toEqual(['list', 'watch 100']);
    });

    it('counts each of several namespaces by itself, also if one breaks again before all are current', async () => {
      const streamingLists = new StreamingLists(new FakeClock());
      const { server, clock } = make({ namespaces: ['a', 'b'], streamingLists });
      // Such a server is not asked again: one lists in pages when the other has found out.
      server.streaming = 'ignored';
      await harness.start();
      server.failNext('watch', new Error('connection refused'), 2);
      server.breakWatches();
      await clock.advance(0);
      const waiting = until();
      await clock.advance(60_000);
      expect(waiting.isCurrent).toBe(true);
    });

    it('ends with a refusal, and not with an answer that another attempt may change', async () => {
      const { server, clock } = make({ firstBackoffMs: 100, maxBackoffMs: 100 });
      await harness.start();
      server.breakWatches();
      server.failNext('list', new ApiStatusError({ code: 503 }), 5);
      server.failNext('list', new ApiStatusError({ code: 403 }), 1000);
      await clock.advance(0);
      const waiting = until();
      await clock.advance(400);
      expect(waiting.isCurrent).toBe(false);
      await clock.advance(200);
      expect(waiting.isCurrent).toBe(true);
    });
  });
});

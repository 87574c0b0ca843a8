import { afterEach, describe, expect, it } from 'vitest';
import { ApiProtocolError } from '../api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { InformerHarness } from './informer-harness.fixture.js';
import { StreamingLists } from './streaming-lists.js';

let harness: InformerHarness;

function make(streaming: 'yes' | 'refused' | 'ignored', streamingLists?: StreamingLists): InformerHarness {
  harness = new InformerHarness({ streamingLists: streamingLists ?? new StreamingLists(new FakeClock()) });
  harness.server.streaming = streaming;
  harness.server.put('a', 'x');
  harness.server.put('a', 'y');
  return harness;
}

afterEach(async () => {
  await harness.stop();
  expect(harness.clock.pendingTimers).toBe(0);
  expect(harness.server.openWatches).toBe(0);
});

describe('a streamed list', () => {
  it('is taken up to its end, all at once, and a watch goes on from there', async () => {
    make('yes');
    const seen = harness.recordEvents();
    await harness.start();
    expect(seen).toEqual(['added a/x@101 initial', 'added a/y@102 initial']);
    expect(harness.server.requests).toEqual(['stream', 'watch 102']);
    expect(harness.server.openWatches, 'the stream is closed').toBe(1);
    harness.server.put('a', 'z');
    await harness.clock.advance(0);
    expect(harness.cached()).toEqual(harness.stored());
  });

  it('shows nothing before its end has come', async () => {
    make('ignored');
    await harness.start();
    await harness.clock.advance(9_000);
    expect(harness.cached()).toEqual({});
    expect(harness.informer.hasSynced).toBe(false);
  });

  it('is a list in pages on a server that refuses it, which is not asked again', async () => {
    const support = new StreamingLists(new FakeClock());
    make('refused', support);
    await harness.start();
    expect(harness.server.requests).toEqual(['stream', 'list', 'watch 102']);
    expect(harness.cached()).toEqual(harness.stored());
    expect(support.isWorthAsking(Pod)).toBe(false);
    expect(support.isWorthAsking(ReplicaSet), 'another group may be served by another server').toBe(true);
    const requests = harness.server.requests.length;
    harness.server.compact();
    harness.server.put('a', 'z');
    harness.server.compact();
    harness.server.breakWatches();
    await harness.clock.advance(5_000);
    expect(harness.server.requests.slice(requests)).not.toContain('stream');
  });

  it('is a list in pages on a server that ignores the request and never announces the end', async () => {
    make('ignored');
    await harness.start();
    await harness.clock.advance(11_000);
    expect(harness.server.requests).toEqual(['stream', 'list', 'watch 102']);
    expect(harness.cached()).toEqual(harness.stored());
  });

  it('is a list in pages as soon as a bookmark shows that the end will not be announced', async () => {
    make('ignored');
    await harness.start();
    harness.server.bookmark();
    await harness.clock.advance(0);
    expect(harness.server.requests).toEqual(['stream', 'list', 'watch 103']);
  });

  it('holds what changed while it came', async () => {
    make('ignored');
    await harness.start();
    harness.server.put('a', 'x');
    harness.server.delete('a', 'y');
    harness.server.sendRaw({ type: 'BOOKMARK', resourceVersion: '104', endsInitialEvents: true });
    await harness.clock.advance(0);
    expect(harness.cached()).toEqual({ 'a/x': '103' });
    expect(harness.server.requests).toEqual(['stream', 'watch 104']);
  });

  it('is begun again if it breaks', async () => {
    make('yes').server.failNext('stream', new Error('connection refused'), 2);
    await harness.start();
    await harness.clock.advance(1_000);
    expect(harness.server.requests).toEqual(['stream', 'stream', 'stream', 'watch 102']);
  });

  it('is tried again after an hour: the server may have been upgraded', async () => {
    const clock = new FakeClock();
    const support = new StreamingLists(clock);
    make('yes');
    support.refused(Pod);
    expect(support.isWorthAsking(Pod)).toBe(false);
    await clock.advance(3_600_000);
    expect(support.isWorthAsking(Pod)).toBe(true);
  });
});

describe('a list in pages', () => {
  it('is listed in smaller pages if they are too large to be read', async () => {
    harness = new InformerHarness({ pageSize: 40 });
    for (let i = 0; i < 5; i++) harness.server.put('a', `x${i}`);
    harness.server.failNext('list', new ApiProtocolError('too much', { tooLarge: true }));
    await harness.start();
    await harness.clock.advance(1_000);
    expect(harness.server.requests).toEqual(['list', 'list', 'page', 'page', 'watch 105']);
    expect(harness.cached()).toEqual(harness.stored());
  });
});

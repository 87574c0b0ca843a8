import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiStatusError, ObjectShard } from '../api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { SHARD_HASHES, keyOf } from '../../machinery/kubernetes/index.js';
import type { Logger } from '../../machinery/logging/index.js';
import { InformerHarness } from './informer-harness.fixture.js';
import type { SharedInformer } from './shared-informer.js';
import type { Thing } from './informer-harness.fixture.js';
import { StreamingLists } from './streaming-lists.js';
import { propertyRuns } from '../../testing/property-runs.js';

/** The hash of `shop` is in the lower half, that of `bank` in the upper one. */
const LOWER = new ObjectShard('object.metadata.namespace', [{ start: 0n, end: 2n ** 63n }]);
const UPPER = new ObjectShard('object.metadata.namespace', [{ start: 2n ** 63n, end: SHARD_HASHES }]);

let harness: InformerHarness;

afterEach(async () => {
  await harness.stop();
  expect(harness.server.openWatches, 'a stopped informer leaves no watch').toBe(0);
});

function make(shards: readonly ObjectShard[], logger?: Logger): SharedInformer<Thing> {
  harness = new InformerHarness({ shards, pageSize: 2, ...(logger && { logger }) });
  return harness.informer;
}

describe('an informer of shards', () => {
  it('shows the objects of its shards alone, each listed and watched by itself', async () => {
    make([LOWER]);
    harness.server.put('shop', 'x');
    harness.server.put('bank', 'x');
    await harness.start();
    harness.server.put('shop', 'y');
    harness.server.put('bank', 'y');
    await harness.clock.advance(0);
    expect(Object.keys(harness.cached())).toEqual(['shop/x', 'shop/y']);
    expect(harness.server.requests).toEqual([`list in ${LOWER.selector}`, `watch 102 in ${LOWER.selector}`]);
  });

  it('says which namespaces it shows', async () => {
    const informer = make([LOWER]);
    const shown = () => ['shop', 'bank'].map((namespace) => informer.showsNamespace(namespace));
    expect(shown()).toEqual([true, false]);
    informer.setShards([UPPER]);
    expect(shown()).toEqual([false, true]);
    expect(new InformerHarness().informer.showsNamespace('bank')).toBe(true);
  });

  it('keeps the objects of a shard when another one is listed again', async () => {
    make([LOWER, UPPER]);
    harness.server.put('shop', 'x');
    harness.server.put('bank', 'x');
    const seen = harness.recordEvents();
    await harness.start();
    harness.server.breakWatches(new ApiStatusError({ code: 410 }));
    await harness.clock.advance(10_000);
    expect(seen).toEqual(['added shop/x@101 initial', 'added bank/x@102 initial']);
  });

  it('waits for the version of a namespace in its own shard, regardless of another one that is behind', async () => {
    const informer = make([LOWER, UPPER]);
    await harness.start();
    harness.server.put('bank', 'x');
    await harness.clock.advance(0);
    expect(informer.hasSeen('101', { namespace: 'bank' })).toBe(true);
    expect(informer.hasSeen('101', { namespace: 'shop' })).toBe(false);
    expect(informer.hasSeen('101')).toBe(false);
    harness.server.bookmark();
    await harness.clock.advance(0);
    expect(informer.hasSeen('101')).toBe(true);
  });

  it('says once that the server does not select shards, and what it does then', async () => {
    const told: string[] = [];
    const tell = (message: string): void => void told.push(message);
    const logger: Logger = {
      ...{ debug: () => undefined, info: tell, warn: tell, error: tell },
      child: () => logger,
    };
    const informer = make([LOWER], logger);
    harness.server.selectsShards = false;
    harness.server.put('bank', 'x');
    await harness.start();
    expect(informer.leavesOutShards).toBe(true);
    harness.server.breakWatches(new ApiStatusError({ code: 410 }));
    await harness.clock.advance(10_000);
    expect(told.filter((message) => message.includes('shards'))).toEqual([
      'the API server does not select shards: all objects are read, and those of others left out',
    ]);
    harness.server.selectsShards = true;
    harness.server.breakWatches(new ApiStatusError({ code: 410 }));
    await harness.clock.advance(60_000);
    expect(informer.leavesOutShards).toBe(false);
  });

  it('lists in pages, because a stream does not say whether the server selects shards', async () => {
    harness = new InformerHarness({ shards: [LOWER], streamingLists: new StreamingLists(new FakeClock()) });
    harness.server.streaming = 'yes';
    await harness.start();
    expect(harness.server.requests[0]).toMatch(/^list in /);
  });

  it('has no version as long as it has no shard', () => {
    expect(make([]).lastSyncedResourceVersion).toBeUndefined();
  });

  it('changes its shards while it runs: forgets without an event what it leaves, and lists what comes', async () => {
    const informer = make([LOWER]);
    harness.server.put('shop', 'x');
    harness.server.put('bank', 'x');
    const seen = harness.recordEvents();
    await harness.start();
    informer.setShards([LOWER, UPPER]);
    expect([informer.isCurrentIn(LOWER), informer.isCurrentIn(UPPER)]).toEqual([true, false]);
    expect(informer.hasSynced).toBe(false);
    await harness.clock.advance(0);
    expect(informer.isCurrentIn(UPPER)).toBe(true);
    informer.setShards([UPPER]);
    expect(harness.cached()).toEqual({ 'bank/x': '102' });
    harness.server.put('shop', 'y');
    harness.server.put('bank', 'y');
    await harness.clock.advance(0);
    expect(Object.keys(harness.cached())).toEqual(['bank/x', 'bank/y']);
    expect(seen).toEqual(['added shop/x@101 initial', 'added bank/x@102 initial', 'added bank/y@104']);
    expect(harness.server.requests.filter((request) => request.startsWith('list'))).toHaveLength(2);
    expect(harness.server.openWatches).toBe(1);
  });

  it('tells what it has forgotten with a shard that it leaves, and of each shard that is listed for the first time', async () => {
    const informer = make([LOWER]);
    harness.server.put('shop', 'x');
    const told: string[] = [];
    informer.addShardHandler({
      listed: () => void told.push(`listed ${Object.keys(harness.cached()).join()}`),
      left: (objects) => void told.push(`left ${objects.map(({ metadata }) => keyOf(metadata)).join()}`),
    });
    const progress = () => informer.shardProgress?.map(({ ageMs, hasSynced }) => ({ ageMs, hasSynced }));
    expect(progress()).toEqual([{ ageMs: 0, hasSynced: false }]);
    await harness.start();
    await harness.clock.advance(5_000);
    informer.setShards([LOWER, UPPER]);
    expect(progress()).toEqual([
      { ageMs: 5_000, hasSynced: true },
      { ageMs: 0, hasSynced: false },
    ]);
    expect(informer.shardProgress?.map((each) => each.includes('bank'))).toEqual([false, true]);
    informer.setShards([UPPER]);
    await harness.clock.advance(0);
    harness.server.breakWatches(new ApiStatusError({ code: 410 }));
    await harness.clock.advance(10_000);
    expect(told).toEqual(['listed shop/x', 'left shop/x', 'listed ']);
  });

  it('ends the waits for a shard that it leaves', async () => {
    const informer = make([LOWER, UPPER]);
    await harness.start();
    const ends: string[] = [];
    const end = (error: unknown): void => void ends.push(String(error));
    informer.waitForResourceVersion('999', harness.signal, { namespace: 'shop' }).catch(end);
    harness.server.failNext('list', new ApiStatusError({ code: 503 }), 1000);
    harness.server.breakWatches(new ApiStatusError({ code: 410 }));
    await harness.clock.advance(0);
    let isCurrent = false;
    void informer.waitUntilCurrent(harness.signal).then(() => (isCurrent = true));
    await harness.clock.advance(0);
    expect([ends.length, isCurrent]).toEqual([0, false]);
    informer.setShards([]);
    await harness.clock.advance(0);
    expect(ends).toEqual([expect.stringContaining('not watched any more')]);
    expect(isCurrent).toBe(true);
  });

  it('shows what the server has of its last shards, after any others that it has left and taken up on the way', async () => {
    const object = { namespace: fc.constantFrom('shop', 'bank'), name: fc.constantFrom('x', 'y') };
    const held = fc.subarray([LOWER, UPPER]);
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('put' as const, 'delete' as const), ...object }),
      fc.record({ do: fc.constant('hold' as const), held }),
      fc.record({ do: fc.constantFrom('break' as const, 'expire' as const, 'wait' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), held, async (steps, last) => {
        const informer = make([]);
        await harness.start();
        for (const action of steps) {
          if (action.do === 'put') harness.server.put(action.namespace, action.name);
          else if (action.do === 'delete') harness.server.delete(action.namespace, action.name);
          else if (action.do === 'hold') informer.setShards(action.held);
          else if (action.do === 'break') harness.server.breakWatches();
          else if (action.do === 'expire') harness.server.breakWatches(new ApiStatusError({ code: 410 }));
          else await harness.clock.advance(200);
        }
        informer.setShards(last);
        await harness.clock.advance(120_000);
        const stored = [...harness.server.state().values()].filter((each) =>
          last.some((shard) => shard.includes(each)),
        );
        expect(harness.cached()).toEqual(
          Object.fromEntries(
            stored.map(({ metadata }) => [keyOf(metadata), metadata.resourceVersion]).sort(),
          ),
        );
        // A watch that broke and was taken up again shows that it missed nothing with the next version.
        harness.server.bookmark();
        await harness.clock.advance(0);
        expect(last.every((shard) => informer.isCurrentIn(shard))).toBe(true);
        await harness.stop();
        expect(harness.server.openWatches).toBe(0);
      }),
      propertyRuns({ gate: 60, nightly: 500 }),
    );
  });

  it('has other shards later only if it was made of some', async () => {
    harness = new InformerHarness();
    expect(() => harness.informer.setShards([LOWER])).toThrow('has no shards');
  });

  it.each([
    [{ shards: [LOWER], namespaces: ['a'] }, 'namespaces'],
    [{ shards: [new ObjectShard('object.metadata.uid', LOWER.ranges)] }, 'by the namespace'],
  ])('cannot be made of parts whose objects it could not tell apart (%#)', async (options, problem) => {
    expect(() => new InformerHarness(options)).toThrow(problem);
    make([LOWER]);
  });
});

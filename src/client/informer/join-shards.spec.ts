import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectShard } from '../api-client/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { Node, Pod, keyOf, shardRangeOf } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeListWatch } from '../../testing/fake-list-watch.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { InformerFactory } from './index.js';
import type { JoinedShards } from './join-shards.js';
import { joinShards } from './join-shards.js';

const COUNT = 8;
const SHARDS = Array.from(
  { length: COUNT },
  (_, index) => new ObjectShard('object.metadata.namespace', [shardRangeOf(index, COUNT)]),
);
const of = (...indexes: number[]): ObjectShard[] => indexes.map((index) => SHARDS[index]!);
const texts = (groups: readonly JoinedShards[]): string[] => groups.map(({ shard }) => shard.selector);

describe('shards that are watched as one', () => {
  it('have one range where they touch', () => {
    const [group, ...others] = joinShards([], of(2, 0, 1, 5));
    expect(others).toEqual([]);
    expect(group!.shard.ranges).toEqual([
      { start: shardRangeOf(0, COUNT).start, end: shardRangeOf(2, COUNT).end },
      shardRangeOf(5, COUNT),
    ]);
  });

  it('go on as they are when others are added, and only those beside one that is left are listed again', () => {
    const first = joinShards([], of(0, 1));
    const more = joinShards(first, of(0, 1, 4, 5));
    expect(texts(more)).toEqual([...texts(first), ...texts(joinShards([], of(4, 5)))]);
    const fewer = joinShards(more, of(0, 4, 5));
    expect(fewer[0]).toBe(more[1]);
    expect(texts(fewer).slice(1)).toEqual(texts(joinShards([], of(0))));
    expect(joinShards(fewer, [])).toEqual([]);
  });

  it('are the wanted ones, each in one group, and the groups are few', () => {
    const wanted = fc.subarray(SHARDS);
    fc.assert(
      fc.property(fc.array(wanted, { maxLength: 12 }), (steps) => {
        let groups: readonly JoinedShards[] = [];
        for (const step of steps) {
          groups = joinShards(groups, step);
          expect(groups.flatMap(({ selectors }) => [...selectors]).toSorted()).toEqual(
            step.map(({ selector }) => selector).toSorted(),
          );
          expect(groups.length).toBeLessThanOrEqual(4);
          for (const each of SHARDS)
            expect(
              groups.filter(({ shard }) => shard.ranges.some((range) => covers(range, each))).length,
            ).toBe(step.includes(each) ? 1 : 0);
        }
      }),
      propertyRuns({ gate: 200, nightly: 5000 }),
    );
  });
});

function covers(range: { start: bigint; end: bigint }, { ranges: [inner] }: ObjectShard): boolean {
  return range.start <= inner!.start && inner!.end <= range.end;
}

describe('informers of metadata with shards', () => {
  it('follow the shards of their factory from their first list to their end, with one watch for all that came at once', async () => {
    const clock = new FakeClock();
    const server = new FakeListWatch(Pod, clock);
    const factory = new InformerFactory({
      ...{ client: server, clock, random: new SeededRandom(1), logger: silentLogger, shards: [] },
    });
    const stopper = new AbortController();
    factory.setShards(of(0, 1, 2, 3));
    const { informer } = factory.metadataInformerFor(Pod);
    const running = informer.run(stopper.signal);
    for (const namespace of ['shop', 'bank']) server.put(namespace, 'x');
    await clock.advance(0);
    const shown = (): string[] => informer.lister.list().map(({ metadata }) => keyOf(metadata));
    expect(shown()).toEqual(['shop/x']);
    expect(server.openWatches).toBe(1);
    factory.setShards(SHARDS);
    await clock.advance(0);
    expect(shown().toSorted()).toEqual(['bank/x', 'shop/x']);
    expect(server.openWatches).toBe(2);
    stopper.abort();
    await running;
    const asked = server.requests.length;
    factory.setShards(of(7));
    await clock.advance(0);
    expect(server.requests).toHaveLength(asked);
  });

  it('show types without a namespace whole', () => {
    const clock = new FakeClock();
    const client = new FakeListWatch(Node, clock);
    const factory = new InformerFactory({
      ...{ client, clock, random: new SeededRandom(1), logger: silentLogger, shards: [] },
    });
    const { informer } = factory.metadataInformerFor(Node);
    factory.setShards(of(1));
    expect(informer.shardProgress).toBeUndefined();
  });
});

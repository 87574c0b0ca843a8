import { describe, expect, it } from 'vitest';
import type { ObjectShard } from '../../../client/api-client/index.js';
import { shardHash, shardIndexOf } from '../../../machinery/kubernetes/index.js';
import { ShardCopies } from './shard-copies.js';

const COUNT = 16;

describe('the copies of slots in the informers of a replica', () => {
  const kept: ObjectShard[][] = [];
  const awaited: ObjectShard[] = [];
  const copies = new ShardCopies({
    count: COUNT,
    isOptional: () => false,
    informers: {
      setShards: (shards) => void kept.push([...shards]),
      waitUntilCurrentIn: async (shard) => void awaited.push(shard),
    },
  });

  it('are shards with the namespaces of their slots, and change only where the slots do', async () => {
    copies.keep(new Set([3, 1]));
    copies.keep(new Set([1, 3]));
    copies.keep(new Set([1]));
    expect(kept.map(({ length }) => length)).toEqual([2, 1]);
    const names = Array.from({ length: 500 }, (_, at) => `${at}-team`);
    const ofSlot = names.filter((name) => shardIndexOf(shardHash(name), COUNT) === 1);
    expect(names.filter((name) => kept[1]?.[0]?.includesValue(name))).toEqual(ofSlot);
  });

  it('stay the same shards, so that their watches go on', async () => {
    await copies.untilCurrent(1, new AbortController().signal);
    expect(awaited[0]).toBe(kept[0]?.[0]);
    expect(kept[1]?.[0]).toBe(kept[0]?.[0]);
  });
});

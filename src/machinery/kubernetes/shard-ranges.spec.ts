import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SHARD_HASHES,
  isInShard,
  shardHash,
  shardIndexOf,
  shardRangeOf,
  shardSelectorText,
} from './index.js';

/** The definition of FNV-1a, on integers without a bound. */
function definition(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text, 'utf8')) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n;
  return hash;
}

describe('the hash of a shard', () => {
  it.each([
    // Published test vectors of FNV-1a with 64 bits.
    ['', 0xcbf29ce484222325n],
    ['a', 0xaf63dc4c8601ec8cn],
    ['b', 0xaf63df4c8601f1a5n],
    ['c', 0xaf63de4c8601eff2n],
    ['foo', 0xdcb27518fed9d577n],
    ['foobar', 0x85944171f73967e8n],
  ])('has the published value for %j', (text, hash) => {
    expect(shardHash(text)).toBe(hash);
  });

  it.each(['abc', 'test-uid-12345', 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'])(
    'has the value of the definition for %j, which upstream hashes in its tests',
    (text) => {
      expect(shardHash(text)).toBe(definition(text));
    },
  );

  it('follows the definition for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(shardHash(text)).toBe(definition(text));
      }),
    );
  });
});

describe('the ranges of shards', () => {
  it('make up all hashes, one behind the other, for any number of them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.bigInt(0n, SHARD_HASHES - 1n), (count, hash) => {
        const ranges = Array.from({ length: count }, (_, index) => shardRangeOf(index, count));
        expect(ranges[0]!.start).toBe(0n);
        expect(ranges.at(-1)!.end).toBe(SHARD_HASHES);
        for (let i = 1; i < count; i++) expect(ranges[i]!.start).toBe(ranges[i - 1]!.end);
        const holders = ranges.flatMap((range, index) => (isInShard(hash, [range]) ? [index] : []));
        expect(holders).toEqual([shardIndexOf(hash, count)]);
      }),
    );
  });

  it('hold names that differ in their last two characters alone in one of 32, and others spread', () => {
    const slotsOf = (digits: number): number => {
      const names = Array.from(
        { length: 10 ** digits },
        (_, index) => `team-${String(index).padStart(digits, '0')}`,
      );
      return new Set(names.map((name) => shardIndexOf(shardHash(name), 32))).size;
    };
    expect([slotsOf(1), slotsOf(2), slotsOf(3)]).toEqual([1, 1, 10]);
  });

  it('are written in the form of a selector, each bound with 16 digits but 2^64', () => {
    const ranges = [shardRangeOf(0, 4), shardRangeOf(3, 4)];
    expect(shardSelectorText('object.metadata.namespace', ranges)).toBe(
      "shardRange(object.metadata.namespace, '0x0000000000000000', '0x4000000000000000') || " +
        "shardRange(object.metadata.namespace, '0xc000000000000000', '0x10000000000000000')",
    );
  });
});

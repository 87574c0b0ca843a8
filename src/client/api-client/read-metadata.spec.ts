import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectShard } from './index.js';
import { readMetadata } from './read-metadata.js';
import { SHARD_HASHES, shardHash } from '../../machinery/kubernetes/index.js';

const line = (object: unknown, type = 'ADDED'): string => JSON.stringify({ type, object });

describe('the metadata read from a line of a watch', () => {
  it('are those of the object alone, whatever else has fields of these names', () => {
    const object = {
      data: { namespace: 'no', metadata: { namespace: 'no' }, text: '"namespace":"no"' },
      metadata: {
        annotations: { namespace: 'no', 'a\\': '{"metadata":{"namespace":"no"}}' },
        managedFields: [{ fieldsV1: { 'f:metadata': { 'f:namespace': {} } } }],
        ...{ name: 'a', namespace: 'yes', ownerReferences: [{ uid: 'no' }], uid: 'u', resourceVersion: '7' },
      },
      spec: { namespace: 'no' },
    };
    expect(readMetadata(line(object))).toEqual({ namespace: 'yes', uid: 'u', resourceVersion: '7' });
    expect(readMetadata(line(object).replaceAll(':', ' : ').replaceAll(',', ' , '))).toMatchObject({
      uid: 'u',
    });
  });

  it('lack what the object lacks', () => {
    expect(readMetadata(line({ metadata: { name: 'a', labels: null, generation: 1 } }))).toEqual({});
    expect(readMetadata(line({ metadata: {} }))).toEqual({});
  });

  it.each([
    ['a bookmark', line({ metadata: { namespace: 'a' } }, 'BOOKMARK')],
    ['an error', line({ kind: 'Status', metadata: {} }, 'ERROR')],
    ['an escape', line({ metadata: { namespace: 'a"b' } })],
    ['a namespace that is no text', line({ metadata: { namespace: 7 } })],
    ['no metadata', line({ spec: {} })],
    ['metadata that are no object', line({ metadata: 'a' })],
    ['a type behind the object', JSON.stringify({ object: { metadata: {} }, type: 'ADDED' })],
    ['a line that is cut off', line({ metadata: { labels: { a: 'b' } } }).slice(0, -4)],
    ['a line that is no JSON', 'namespace'],
  ])('are not told from %s, which has to be parsed', (_name, text) => {
    expect(readMetadata(text)).toBeUndefined();
  });

  it('are never others than those of the parsed line', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ',', 'é') });
    const metadata = fc.dictionary(
      fc.constantFrom('namespace', 'uid', 'resourceVersion', 'x', 'y'),
      fc.oneof(text, value),
    );
    const object = fc.record({
      a: value,
      metadata: fc.oneof({ weight: 9, arbitrary: metadata }, value),
      z: value,
    });
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 1), (made, indent) => {
        const written = JSON.stringify({ type: 'MODIFIED', object: made }, undefined, indent).replaceAll(
          '\n',
          '',
        );
        const read = readMetadata(written);
        if (!read) return;
        const { metadata: parsed } = JSON.parse(written).object;
        expect(parsed).toMatchObject(read);
        for (const field of ['namespace', 'uid', 'resourceVersion'])
          if (read.resourceVersion === undefined && !(field in read))
            expect(parsed).not.toHaveProperty(field);
      }),
    );
  });
});

describe('an ObjectShard', () => {
  const half = new ObjectShard('object.metadata.namespace', [{ start: 2n ** 63n, end: SHARD_HASHES }]);
  const inside = line({ metadata: { namespace: 'bank', resourceVersion: '5' } });
  const outside = line({ metadata: { namespace: 'shop', resourceVersion: '6' } });

  it('includes the namespaces whose hash is in its ranges', () => {
    expect(['bank', 'shop'].map((namespace) => half.includes({ metadata: { namespace } }))).toEqual([
      true,
      false,
    ]);
    expect(shardHash('bank') >> 63n).toBe(1n);
  });

  it('drops the lines of other shards, of which the last leaves a bookmark with its version', () => {
    expect(half.linesOf([outside, inside])).toEqual([inside]);
    const [kept, bookmark] = half.linesOf([inside, outside]);
    expect(kept).toBe(inside);
    expect(JSON.parse(bookmark!)).toEqual({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '6' } },
    });
  });

  it('has at least one range', () => {
    expect(() => new ObjectShard('object.metadata.uid', [])).toThrow(RangeError);
  });
});

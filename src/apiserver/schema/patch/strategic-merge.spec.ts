import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSchemaRegistry } from '../index.js';
import type { JsonObject } from './json-pointer.js';
import { strategicMerge } from './strategic-merge.js';

const schemas = createSchemaRegistry();

/** Merges into a Deployment's pod spec. */
function merged(podSpec: JsonObject, patch: JsonObject): JsonObject {
  const wrap = (spec: JsonObject) => ({ spec: { template: { spec } } });
  const result = strategicMerge(wrap(structuredClone(podSpec)), wrap(patch), {
    schemas,
    schema: 'io.k8s.api.apps.v1.Deployment',
  });
  return (result as ReturnType<typeof wrap>).spec.template.spec;
}

const a = { name: 'a', image: 'a:1' };
const b = { name: 'b', image: 'b:1' };

describe('strategicMerge', () => {
  const cases: readonly { name: string; original: JsonObject; patch: JsonObject; result: JsonObject }[] = [
    {
      name: 'merges items of a list by their key and leaves the others',
      original: { containers: [a, b] },
      patch: { containers: [{ name: 'b', image: 'b:2' }] },
      result: { containers: [a, { name: 'b', image: 'b:2' }] },
    },
    {
      // The list of the patch says the order: what it does not name comes after.
      name: 'puts items that are new first',
      original: { containers: [a] },
      patch: { containers: [b] },
      result: { containers: [b, a] },
    },
    {
      name: 'keeps of a patch that replaces a list what only says what is to be there',
      original: { initContainers: [a, b] },
      patch: {
        initContainers: [{ name: 'b', $patch: 'delete' }, { $patch: 'replace' }, { name: 'c', image: 'c:1' }],
      },
      result: { initContainers: [{ name: 'c', image: 'c:1' }] },
    },
    {
      name: 'puts what is new in the place of what is deleted, behind what the server alone has',
      original: { containers: [a, b] },
      patch: {
        '$setElementOrder/containers': [{ name: 'next' }],
        containers: [
          { name: 'a', $patch: 'delete' },
          { name: 'next', image: 'n:1' },
        ],
      },
      result: { containers: [b, { name: 'next', image: 'n:1' }] },
    },
    {
      name: 'puts items of one key together where $setElementOrder names the key twice',
      original: { containers: [{ ...a, image: '1' }, b, { ...a, image: '2' }] },
      patch: { '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }, { name: 'a' }] },
      result: { containers: [{ ...a, image: '1' }, { ...a, image: '2' }, b] },
    },
    {
      name: 'deletes all items that have the key',
      original: { containers: [a, b, { ...a, image: '2' }] },
      patch: { containers: [{ name: 'a', $patch: 'delete' }] },
      result: { containers: [b] },
    },
    {
      name: 'orders by $setElementOrder',
      original: { containers: [a, b] },
      patch: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] },
      result: { containers: [b, a] },
    },
    {
      name: 'keeps items that the order does not name behind their neighbours',
      original: { containers: [a, { name: 'injected' }, b] },
      patch: {
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
        containers: [{ name: 'b', image: 'b:2' }],
      },
      result: { containers: [a, { name: 'injected' }, { name: 'b', image: 'b:2' }] },
    },
    {
      name: 'deletes an item by $patch: delete',
      original: { containers: [a, b] },
      patch: { containers: [{ name: 'a', $patch: 'delete' }] },
      result: { containers: [b] },
    },
    {
      name: 'deletes several items, beside one that is not there and one that is new',
      original: { containers: [a, b, { name: 'c', image: 'c:1' }] },
      patch: {
        containers: [
          { name: 'a', $patch: 'delete' },
          { name: 'none', $patch: 'delete' },
          { name: 'd', image: 'd:1' },
          { name: 'c', $patch: 'delete' },
        ],
      },
      result: { containers: [b, { name: 'd', image: 'd:1' }] },
    },
    {
      name: 'replaces a list by $patch: replace',
      original: { containers: [a, b] },
      patch: { containers: [{ $patch: 'replace' }, { name: 'c', image: 'c:1' }] },
      result: { containers: [{ name: 'c', image: 'c:1' }] },
    },
    {
      name: 'replaces a map by $patch: replace',
      original: { nodeSelector: { x: '1', y: '2' } },
      patch: { nodeSelector: { $patch: 'replace', z: '3' } },
      result: { nodeSelector: { z: '3' } },
    },
    {
      name: 'replaces lists that have no merge strategy',
      original: { containers: [{ name: 'a', args: ['x', 'y'] }] },
      patch: { containers: [{ name: 'a', args: ['z'] }] },
      result: { containers: [{ name: 'a', args: ['z'] }] },
    },
    {
      name: 'deletes by null',
      original: { nodeSelector: { x: '1', y: '2' }, hostNetwork: true },
      patch: { nodeSelector: { x: null }, hostNetwork: null },
      result: { nodeSelector: { y: '2' } },
    },
    {
      name: 'merges environment variables within a container',
      original: { containers: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] },
      patch: {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'Y', value: '2' },
              { name: 'X', value: '3' },
            ],
          },
        ],
      },
      result: {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'Y', value: '2' },
              { name: 'X', value: '3' },
            ],
          },
        ],
      },
    },
    {
      name: 'stores what is new without directives and nulls',
      original: {},
      patch: { containers: [{ name: 'a', image: null }], nodeSelector: { x: null, y: '1' } },
      result: { containers: [{ name: 'a' }], nodeSelector: { y: '1' } },
    },
    {
      name: 'stores nothing of what a directive stands in, where there was nothing',
      original: {},
      patch: {
        nodeSelector: { $patch: 'replace', x: '1' },
        affinity: { nodeAffinity: { $patch: 'bogus', x: 1 } },
        volumes: [{ name: 'v', $patch: 'merge' }, { $patch: 'replace' }, { name: 'w' }],
      },
      result: { affinity: {}, volumes: [{ name: 'w' }] },
    },
  ];
  it.each(cases)('$name', ({ original, patch, result }) => {
    expect(merged(original, patch)).toEqual(result);
  });

  it('takes away of what it adds to nothing', () => {
    const patch = { metadata: { finalizers: ['a', 'b'], '$deleteFromPrimitiveList/finalizers': ['a'] } };
    const options = { schemas, schema: 'io.k8s.api.apps.v1.Deployment' };
    expect(strategicMerge({ metadata: {} }, patch, options)).toEqual({ metadata: { finalizers: ['b'] } });
  });

  it('merges finalizers as a set, and deletes from them', () => {
    const options = { schemas, schema: 'io.k8s.api.core.v1.Pod' };
    const pod = () => ({ metadata: { finalizers: ['x', 'y'] } });
    expect(strategicMerge(pod(), { metadata: { finalizers: ['z', 'x'] } }, options)).toEqual({
      metadata: { finalizers: ['z', 'x', 'y'] },
    });
    const removal = { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } };
    expect(strategicMerge(pod(), removal, options)).toEqual({ metadata: { finalizers: ['y'] } });
  });

  it('drops what $retainKeys does not name from a Deployment’s strategy', () => {
    const options = { schemas, schema: 'io.k8s.api.apps.v1.Deployment' };
    const original = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    expect(strategicMerge(original, patch, options)).toEqual({ spec: { strategy: { type: 'Recreate' } } });
  });

  it.each([
    [{ $patch: 'explode' }, 'unknown patch type'],
    [{ $patch: 'merge' }, 'unknown patch type: merge in map: map[$patch:merge]'],
    [{ containers: [{ image: 'x' }] }, 'does not contain declared merge key: name'],
    [{ containers: ['x'] }, 'list element types are not identical: [[map[image:a:1 name:a]] [x]]'],
    [{ $retainKeys: 'x' }, 'invalid patch format of retainKeys'],
    [{ $retainKeys: [], hostNetwork: true }, 'invalid patch format of retainKeys'],
    [{ '$setElementOrder/containers': 'x' }, 'expected a []interface {}, but received a string'],
    [
      { containers: [a, { $patch: 'merge', name: 'a' }] },
      'merging lists cannot yet be specified in the patch',
    ],
  ])('refuses %j', (patch, words) => {
    expect(() => merged({ containers: [a] }, patch)).toThrow(words);
  });

  it('takes a list without a merge strategy as it is, and nothing out of a list that is not there', () => {
    const result = merged(
      { tolerations: [{ key: 'x' }] },
      {
        tolerations: [{ key: 'y' }, { $patch: 'delete', key: 'x' }],
        '$deleteFromPrimitiveList/finalizers': 'x',
      },
    );
    expect(result).toEqual({ tolerations: [{ key: 'y' }, { $patch: 'delete', key: 'x' }] });
  });

  it('is idempotent, and keeps the keys of a merged list unique', () => {
    const item = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), image: fc.constantFrom('1', '2') });
    const list = fc.uniqueArray(item, { selector: ({ name }) => name });
    fc.assert(
      fc.property(list, list, list, (original, patch, order) => {
        const change = {
          containers: patch,
          '$setElementOrder/containers': [...new Set([...patch, ...order].map(({ name }) => name))].map(
            (name) => ({ name }),
          ),
        };
        const once = merged({ containers: original }, change);
        const names = (once.containers as { name: string }[]).map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        expect(new Set(names)).toEqual(new Set([...original, ...patch].map(({ name }) => name)));
        expect(merged(once, change)).toEqual(once);
      }),
    );
  });
});

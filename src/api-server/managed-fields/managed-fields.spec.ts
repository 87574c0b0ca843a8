import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectSchema, SchemaRegistry } from '../schema/index.js';
import { applyConfig } from './apply.js';
import { compare } from './compare.js';
import { describeConflicts } from './conflict-text.js';
import { difference, intersection, pathsOf, recursiveDifference, setOf, union } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { fromFieldsV1, pathText, toFieldsV1 } from './fields-v1.js';
import { ownersBeforeFirstApply } from './first-owners.js';
import { LAST_APPLIED, unchangedSinceLastApplied } from './last-applied.js';
import { allOwned, readOwners, writeOwners } from './managers.js';
import type { Manager, Owners } from './managers.js';
import { mergeConfig } from './merge.js';
import { shapeOfType } from './shape.js';
import { ownersAfterUpdate } from './update.js';

const text: ObjectSchema = { type: 'string' };
const map: ObjectSchema = { type: 'map', items: text };
const types: Readonly<Record<string, ObjectSchema>> = {
  Meta: {
    type: 'object',
    properties: {
      labels: map,
      annotations: map,
      finalizers: { type: 'array', items: text, listType: 'set' },
    },
  },
  Item: { type: 'object', properties: { name: text, image: text, args: { type: 'array', items: text } } },
  Spec: {
    type: 'object',
    properties: {
      replicas: { type: 'integer' },
      selector: { ...map, mapType: 'atomic' },
      items: { type: 'array', items: { type: 'ref', ref: 'Item' }, listType: 'map', listMapKeys: ['name'] },
    },
  },
  Thing: {
    type: 'object',
    properties: {
      metadata: { type: 'ref', ref: 'Meta' },
      spec: { type: 'ref', ref: 'Spec' },
      status: { type: 'ref', ref: 'Spec' },
    },
  },
};
const schemas: SchemaRegistry = { get: (name) => types[name], names: Object.keys(types) };
const shape = shapeOfType(schemas, 'Thing');

function manager(name: string, operation: Manager['operation'] = 'Apply'): Manager {
  return { name, operation, apiVersion: 'v1', subresource: '' };
}

function apply(live: unknown, config: unknown, owners: Owners, name = 'me') {
  return applyConfig({ live, config, owners, shape, manager: manager(name), time: 'T' });
}

/** Applies one after the other; each as `[manager, configuration]`. */
function applied(...steps: readonly (readonly [string, unknown])[]) {
  let state: { object: unknown; owners: Owners } = { object: undefined, owners: new Map() };
  for (const [name, config] of steps) state = apply(state.object, config, state.owners, name);
  return state;
}

function show(owners: Owners): Record<string, string[]> {
  return Object.fromEntries(
    [...owners.values()].map(({ manager: { name }, fields }) => [name, pathsOf(fields).map(pathText)]),
  );
}

describe('the fields of a configuration', () => {
  it.each([
    ['leaves', { spec: { replicas: 1 } }, ['.spec.replicas']],
    ['an atomic map as one', { spec: { selector: { a: 'b' } } }, ['.spec.selector']],
    ['entries of a map', { metadata: { labels: { a: 'b' } } }, ['.metadata.labels.a']],
    ['values of a set', { metadata: { finalizers: ['x'] } }, ['.metadata.finalizers[="x"]']],
    [
      'items with their key, and an atomic list as one',
      { spec: { items: [{ name: 'a', args: ['1'] }] } },
      ['.spec.items[name="a"]', '.spec.items[name="a"].args', '.spec.items[name="a"].name'],
    ],
    ['an empty object', { spec: {} }, ['.spec']],
  ])('are %s', (_what, config, paths) => {
    expect(pathsOf(fieldsOf(config, shape)).map(pathText)).toEqual(paths);
  });

  it('go over the wire and come back', () => {
    const set = setOf(['f:a'], ['f:a', 'f:b'], ['f:c', 'k:{"name":"x"}', 'f:d']);
    expect(toFieldsV1(set)).toEqual({
      'f:a': { '.': {}, 'f:b': {} },
      'f:c': { 'k:{"name":"x"}': { 'f:d': {} } },
    });
    expect(fromFieldsV1(toFieldsV1(set))).toEqual(set);
    expect(fromFieldsV1({ spec: {} })).toBeUndefined();
  });

  it('are sets', () => {
    const a = setOf(['f:a'], ['f:b', 'f:c']);
    const b = setOf(['f:b'], ['f:b', 'f:c'], ['f:d']);
    expect(union(a, b)).toEqual(setOf(['f:a'], ['f:b'], ['f:b', 'f:c'], ['f:d']));
    expect(intersection(a, b)).toEqual(setOf(['f:b', 'f:c']));
    expect(difference(b, a)).toEqual(setOf(['f:b'], ['f:d']));
    expect(recursiveDifference(a, setOf(['f:b']))).toEqual(setOf(['f:a']));
  });
});

describe('a comparison', () => {
  it.each([
    ['a changed leaf', { spec: { replicas: 1 } }, { spec: { replicas: 2 } }, 'modified', ['.spec.replicas']],
    [
      'a new entry',
      { metadata: { labels: { a: '1' } } },
      { metadata: { labels: { a: '1', b: '2' } } },
      'added',
      ['.metadata.labels.b'],
    ],
    [
      'a map that comes',
      {},
      { metadata: { labels: { a: '1' } } },
      'added',
      ['.metadata.labels', '.metadata.labels.a'],
    ],
    [
      'an item that goes',
      { spec: { items: [{ name: 'a' }, { name: 'b' }] } },
      { spec: { items: [{ name: 'b' }] } },
      'removed',
      ['.spec.items[name="a"]', '.spec.items[name="a"].name'],
    ],
    [
      'a changed atomic list',
      { spec: { items: [{ name: 'a', args: ['1'] }] } },
      { spec: { items: [{ name: 'a', args: ['2'] }] } },
      'modified',
      ['.spec.items[name="a"].args'],
    ],
  ] as const)('finds %s, and nothing else', (_what, before, after, where, paths) => {
    const found = compare(before, after, shape);
    expect(pathsOf(found[where]).map(pathText)).toEqual(paths);
    for (const other of ['added', 'modified', 'removed'] as const) {
      if (other !== where) expect(pathsOf(found[other])).toEqual([]);
    }
  });

  it('takes other orders of a list with keys for the same', () => {
    const found = compare(
      { spec: { items: [{ name: 'a' }, { name: 'b' }] } },
      { spec: { items: [{ name: 'b' }, { name: 'a' }] } },
      shape,
    );
    expect(found).toEqual(compare({}, {}, shape));
  });
});

describe('laying a configuration over an object', () => {
  it('keeps what it does not speak of, in its place', () => {
    const live = {
      spec: { replicas: 3, items: [{ name: 'x' }, { name: 'a', image: 'old' }, { name: 'y' }] },
    };
    const config = { spec: { items: [{ name: 'b' }, { name: 'a', image: 'new' }] } };
    expect(mergeConfig(live, config, shape)).toEqual({
      spec: {
        replicas: 3,
        items: [{ name: 'x' }, { name: 'b' }, { name: 'a', image: 'new' }, { name: 'y' }],
      },
    });
  });
});

describe('server-side apply', () => {
  it('takes away what is no longer applied', () => {
    const state = applied(
      [
        'me',
        {
          metadata: { labels: { a: '1', b: '2' } },
          spec: { replicas: 3, items: [{ name: 'a', image: 'i' }] },
        },
      ],
      ['me', { metadata: { labels: { b: '2' } }, spec: { replicas: 3 } }],
    );
    expect(state.object).toEqual({ metadata: { labels: { b: '2' } }, spec: { replicas: 3 } });
  });

  it('leaves what somebody else applies as well', () => {
    const state = applied(
      ['me', { metadata: { labels: { a: '1', b: '2' } } }],
      ['you', { metadata: { labels: { a: '1' } } }],
      ['me', { spec: { replicas: 1 } }],
    );
    expect(state.object).toEqual({ metadata: { labels: { a: '1' } }, spec: { replicas: 1 } });
    expect(show(state.owners)).toEqual({ me: ['.spec.replicas'], you: ['.metadata.labels.a'] });
  });

  it('leaves fields that others have added to an item, and takes the item when nobody owns it', () => {
    const first = applied(['me', { spec: { items: [{ name: 'a', image: 'i' }], replicas: 1 } }]);
    const changed = { spec: { items: [{ name: 'a', image: 'i', args: ['x'] }], replicas: 1 } };
    const kept = apply(changed, { spec: { items: [{ name: 'a' }], replicas: 1 } }, first.owners);
    expect(kept.object).toEqual({ spec: { items: [{ name: 'a', args: ['x'] }], replicas: 1 } });
    const gone = apply(changed, { spec: { replicas: 1 } }, first.owners);
    expect(gone.object).toEqual({ spec: { replicas: 1 } });
  });

  it('conflicts where others own another value, and only there', () => {
    const { object, owners } = applied([
      'you',
      { spec: { replicas: 3, items: [{ name: 'a', image: 'i' }] } },
    ]);
    const outcome = apply(object, { spec: { replicas: 4, items: [{ name: 'a', image: 'i' }] } }, owners);
    expect(outcome.conflicts.map(({ fields }) => pathsOf(fields).map(pathText))).toEqual([
      ['.spec.replicas'],
    ]);
    expect(show(outcome.owners)['you']).not.toContain('.spec.replicas');
    expect(show(outcome.owners)['me']).toContain('.spec.replicas');
  });

  it('says in the words of a genuine server who is in the way', () => {
    const owners = ownersAfterUpdate(
      new Map(),
      { before: {}, after: { spec: { replicas: 3, selector: { a: 'b' } } }, shape },
      manager('kubectl-edit', 'Update'),
      'T',
    );
    const one = apply({ spec: { replicas: 3, selector: { a: 'b' } } }, { spec: { replicas: 4 } }, owners);
    expect(describeConflicts(one.conflicts, () => 'T')).toEqual({
      message: 'Apply failed with 1 conflict: conflict with "kubectl-edit" using v1 at T: .spec.replicas',
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-edit" using v1 at T',
          field: '.spec.replicas',
        },
      ],
    });
    const two = apply(
      { spec: { replicas: 3, selector: { a: 'b' } } },
      { spec: { replicas: 4, selector: { c: 'd' } } },
      owners,
    );
    expect(describeConflicts(two.conflicts, () => undefined).message).toBe(
      'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using v1:\n- .spec.replicas\n- .spec.selector',
    );
  });

  it('may never own a status through the object', () => {
    expect(show(applied(['me', { spec: { replicas: 1 }, status: { replicas: 1 } }]).owners)).toEqual({
      me: ['.spec.replicas'],
    });
  });

  it('finds the rest owned by an unknown updater when it comes late, and what client-side apply left by kubectl', () => {
    const config = { spec: { replicas: 3 } };
    const live = {
      metadata: { labels: { a: '1' }, annotations: { [LAST_APPLIED]: JSON.stringify(config) } },
      spec: { replicas: 3 },
    };
    expect(show(ownersBeforeFirstApply(live, shape, 'v1', 'T'))).toEqual({
      'before-first-apply': ['.metadata.annotations', '.metadata.labels', '.metadata.labels.a'],
      'kubectl-client-side-apply': [`.metadata.annotations.${LAST_APPLIED}`, '.spec.replicas'],
    });
    expect(pathsOf(unchangedSinceLastApplied(live, shape)!).map(pathText)).toEqual(['.spec.replicas']);
    expect(pathsOf(unchangedSinceLastApplied({ ...live, spec: { replicas: 4 } }, shape)!)).toEqual([]);
  });
});

describe('an update', () => {
  it('owns what it changes, and takes it from the others', () => {
    const { object, owners } = applied(['you', { spec: { replicas: 3, selector: { a: 'b' } } }]);
    const after = { spec: { replicas: 5, selector: { a: 'b' } }, metadata: { labels: { x: 'y' } } };
    const changed = ownersAfterUpdate(
      owners,
      { before: object, after, shape },
      manager('edit', 'Update'),
      'T2',
    );
    expect(show(changed)).toEqual({
      you: ['.spec.selector'],
      edit: ['.metadata.labels', '.metadata.labels.x', '.spec.replicas'],
    });
  });

  it('that changes nothing leaves owners and times alone', () => {
    const { object, owners } = applied(['you', { spec: { replicas: 3 } }]);
    const same = ownersAfterUpdate(
      owners,
      { before: object, after: object, shape },
      manager('edit', 'Update'),
      'T2',
    );
    expect(writeOwners(same)).toEqual(writeOwners(owners));
  });

  it('by an eleventh updater puts the oldest together', () => {
    let owners: Owners = new Map();
    let before: object = {};
    for (let i = 10; i < 25; i++) {
      const after = {
        metadata: {
          labels: { ...(before as { metadata?: { labels: object } }).metadata?.labels, [`l${i}`]: 'x' },
        },
      };
      owners = ownersAfterUpdate(owners, { before, after, shape }, manager(`m${i}`, 'Update'), `T${i}`);
      before = after;
    }
    const entries = writeOwners(owners);
    expect(entries.length).toBe(10);
    expect(entries.some((entry) => entry.manager === 'ancient-changes')).toBe(true);
    expect(allOwned(readOwners(entries)!)).toEqual(allOwned(owners));
  });
});

const isFilled = (value: object): boolean => Object.keys(value).length > 0;

const config = fc.record(
  {
    metadata: fc
      .record(
        {
          labels: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { minKeys: 1 }),
          finalizers: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }),
        },
        { requiredKeys: [] },
      )
      .filter(isFilled),
    spec: fc
      .record(
        {
          replicas: fc.nat(3),
          selector: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { minKeys: 1 }),
          items: fc.uniqueArray(
            fc.record(
              {
                name: fc.constantFrom('a', 'b', 'c'),
                image: fc.constantFrom('i', 'j'),
                args: fc.array(fc.constantFrom('p', 'q'), { minLength: 1, maxLength: 2 }),
              },
              { requiredKeys: ['name'] },
            ),
            { selector: ({ name }) => name, minLength: 1 },
          ),
        },
        { requiredKeys: [] },
      )
      .filter(isFilled),
  },
  { requiredKeys: [] },
);

describe('whatever is applied', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('me', 'you', 'they'), config), {
    minLength: 1,
    maxLength: 6,
  });

  it('applying the same again changes nothing', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const once = applied(...given);
        const [name, last] = given.at(-1)!;
        const again = apply(once.object, last, once.owners, name);
        expect(again.object).toEqual(once.object);
        expect(writeOwners(again.owners)).toEqual(writeOwners(once.owners));
        expect(again.conflicts).toEqual([]);
      }),
    );
  });

  it('applying nothing by everybody leaves no owner and none of the fields', () => {
    fc.assert(
      fc.property(steps, (given) => {
        let state: { object: unknown; owners: Owners } = applied(...given);
        for (const name of ['me', 'you', 'they']) state = apply(state.object, {}, state.owners, name);
        expect([...state.owners]).toEqual([]);
        expect(pathsOf(fieldsOf(state.object ?? {}, shape)).filter((path) => path.length > 1)).toEqual([]);
      }),
    );
  });

  it('the applier owns exactly what it says, and the object says what it says', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const state = applied(...given);
        const [name, last] = given.at(-1)!;
        const owned = show(state.owners)[name] ?? [];
        expect(owned).toEqual(pathsOf(fieldsOf(last, shape)).map(pathText));
        expect(mergeConfig(state.object, last, shape)).toEqual(state.object ?? last);
      }),
    );
  });

  it('ownership survives being written down', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const { owners } = applied(...given);
        expect(
          writeOwners(readOwners(JSON.parse(JSON.stringify(writeOwners(owners))) as unknown[])!),
        ).toEqual(writeOwners(owners));
      }),
    );
  });
});

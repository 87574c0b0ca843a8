import { describe, expect, it } from 'vitest';
import { compare } from './compare.js';
import { describeConflicts } from './conflict-text.js';
import { difference, intersection, pathsOf, recursiveDifference, setOf, union } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { fromFieldsV1, pathText, toFieldsV1 } from './fields-v1.js';
import { ownersBeforeFirstApply } from './first-owners.js';
import { LAST_APPLIED, unchangedSinceLastApplied } from './last-applied.js';
import { allOwned, readOwners, writeOwners } from './managers.js';
import type { Owners } from './managers.js';
import { mergeConfig } from './merge.js';
import { ownersAfterUpdate } from './update.js';
import { applied, apply, manager, shape, show } from './thing.fixture.js';

/** A thing with nothing in it, as Go writes it. */
const EMPTY = { metadata: {}, spec: {} };

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
    ['zero', { spec: { replicas: 0 } }, ['.spec.replicas']],
    ['an empty text', { metadata: { labels: { a: '' } } }, ['.metadata.labels.a']],
    ['null', { spec: { replicas: null, items: null } }, ['.spec.items', '.spec.replicas']],
    [
      'an empty atomic list, and no empty list with keys',
      { spec: { items: [{ name: 'a', args: [] }] } },
      ['.spec.items[name="a"]', '.spec.items[name="a"].args', '.spec.items[name="a"].name'],
    ],
    ['no empty list with keys', { spec: { items: [] } }, []],
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
      { metadata: {} },
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

  it('leaves the name and what the server writes when the last label goes', () => {
    const { owners } = applied([
      'me',
      { metadata: { name: 'x', labels: { a: '1' } }, spec: { replicas: 1 } },
    ]);
    const live = { metadata: { name: 'x', uid: 'u', labels: { a: '1' } }, spec: { replicas: 1 } };
    expect(apply(live, { metadata: { name: 'x' }, spec: { replicas: 1 } }, owners).object).toEqual({
      metadata: { name: 'x', uid: 'u' },
      spec: { replicas: 1 },
    });
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
      { before: EMPTY, after: { spec: { replicas: 3, selector: { a: 'b' } } }, shape },
      manager('kubectl-edit', 'Update'),
      'T',
    );
    const one = apply({ spec: { replicas: 3, selector: { a: 'b' } } }, { spec: { replicas: 4 } }, owners);
    expect(describeConflicts(one.conflicts)).toEqual({
      message: 'Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .spec.replicas',
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-edit" using v1',
          field: '.spec.replicas',
        },
      ],
    });
    const two = apply(
      { spec: { replicas: 3, selector: { a: 'b' } } },
      { spec: { replicas: 4, selector: { c: 'd' } } },
      owners,
    );
    expect(describeConflicts(two.conflicts).message).toBe(
      'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using v1:\n- .spec.replicas\n- .spec.selector',
    );
  });

  it.each([
    ['zero', { replicas: 3 }, { replicas: 0 }, '.spec.replicas'],
    ['null', { replicas: 3 }, { replicas: null }, '.spec.replicas'],
    ['an empty atomic map', { selector: { a: 'b' } }, { selector: {} }, '.spec.selector'],
    ['null for an atomic map', { selector: { a: 'b' } }, { selector: null }, '.spec.selector'],
  ])('sets %s like any other value, which conflicts', (_what, theirs, ours, path) => {
    const { object, owners } = applied(['you', { spec: theirs }]);
    const outcome = apply(object, { spec: ours }, owners);
    expect(outcome.object).toEqual({ spec: ours });
    expect(outcome.conflicts.map(({ fields }) => pathsOf(fields).map(pathText))).toEqual([[path]]);
  });

  it.each([
    ['an empty map', { metadata: { labels: {} } }],
    ['null for a map', { metadata: { labels: null } }],
    ['an empty list with keys', { spec: { items: [] } }],
  ])('takes nothing out by %s', (_what, config) => {
    const theirs = { metadata: { labels: { a: '1' } }, spec: { items: [{ name: 'a' }] } };
    const { object, owners } = applied(['you', theirs]);
    expect(apply(object, config, owners).object).toEqual(theirs);
    expect(apply(object, config, owners).conflicts).toEqual([]);
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
    expect(show(ownersBeforeFirstApply(live, { shape, empty: EMPTY, apiVersion: 'v1', time: 'T' }))).toEqual({
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

  it('leaves owners and times alone if it changes nothing', () => {
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

import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { ObjectStore } from './store.js';

interface Thing extends KubernetesObject {
  value?: string;
}

function thing(name: string, resourceVersion: string, uid = `uid-${name}`, value?: string): Thing {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { namespace: 'a', name, uid, resourceVersion },
    value,
  };
}

function summary(events: ReturnType<ObjectStore<Thing>['replace']>): string[] {
  return events.map((event) => {
    const unknown = event.type === 'deleted' && event.finalStateUnknown ? ' unknown' : '';
    const initial = event.type === 'added' && event.initial ? ' initial' : '';
    const { name, resourceVersion } = event.object.metadata;
    return `${event.type} ${name}@${resourceVersion}${unknown}${initial}`;
  });
}

describe('ObjectStore', () => {
  it('turns a relist into its differences, deletions by absence first', () => {
    const store = new ObjectStore<Thing>();
    expect(summary(store.replace([thing('x', '1'), thing('y', '2'), thing('z', '3')], true))).toEqual([
      'added x@1 initial',
      'added y@2 initial',
      'added z@3 initial',
    ]);
    expect(summary(store.replace([thing('y', '2'), thing('z', '5'), thing('new', '4')], false))).toEqual([
      'deleted x@1 unknown',
      'modified z@5',
      'added new@4',
    ]);
    expect(store.lister.get('a/x')).toBeUndefined();
  });

  it('keeps the identity of an object that a relist shows unchanged', () => {
    const store = new ObjectStore<Thing>();
    store.replace([thing('x', '1')], true);
    const before = store.lister.get('a/x');
    store.replace([thing('x', '1')], false);
    expect(store.lister.get('a/x')).toBe(before);
  });

  it('shows a new object under an old name as a deletion and an addition', () => {
    const store = new ObjectStore<Thing>();
    store.replace([thing('x', '1')], true);
    expect(summary(store.upsert(thing('x', '9', 'another')))).toEqual(['deleted x@1 unknown', 'added x@9']);
    expect(summary(store.replace([thing('x', '12', 'a third')], false))).toEqual([
      'deleted x@9 unknown',
      'added x@12',
    ]);
  });

  it.each([
    ['an older modification', (store: ObjectStore<Thing>) => store.upsert(thing('x', '9'))],
    ['the state it has', (store: ObjectStore<Thing>) => store.upsert(thing('x', '10'))],
    ['an older deletion', (store: ObjectStore<Thing>) => store.remove(thing('x', '9'))],
    [
      'the older deletion of a predecessor',
      (store: ObjectStore<Thing>) => store.remove(thing('x', '9', 'old')),
    ],
    ['the deletion of what it never had', (store: ObjectStore<Thing>) => store.remove(thing('?', '99'))],
  ])('ignores %s', (_name, change) => {
    const store = new ObjectStore<Thing>();
    store.replace([thing('x', '10')], true);
    const before = store.lister.get('a/x');
    expect(change(store)).toEqual([]);
    expect(store.lister.get('a/x')).toBe(before);
  });

  it('takes an object that a list shows twice in its newer state', () => {
    const store = new ObjectStore<Thing>();
    store.replace([thing('x', '10'), thing('x', '9')], true);
    expect(store.lister.get('a/x')?.metadata.resourceVersion).toBe('10');
  });

  it('keeps indexes equal to what indexing from scratch would give', () => {
    const store = new ObjectStore<Thing>();
    store.addIndex('value', (object) => (object.value ?? '').split(',').filter((value) => value !== ''));
    store.replace([thing('x', '1', 'x', 'red,blue'), thing('y', '2', 'y', 'blue')], true);
    store.upsert(thing('x', '3', 'x', 'green,blue'));
    store.remove(thing('y', '4', 'y', 'blue'));
    const names = (value: string) =>
      store.lister.byIndex('value', value).map((object) => object.metadata.name);
    expect(names('red')).toEqual([]);
    expect(names('green')).toEqual(['x']);
    expect(names('blue')).toEqual(['x']);
  });

  it('answers a question to an index that does not exist with an error', () => {
    expect(() => new ObjectStore<Thing>().lister.byIndex('nope', 'x')).toThrow('there is no index nope');
  });

  it('looks only at the objects it gives when asked by index, however many others there are', () => {
    const store = new ObjectStore<Thing>();
    let indexed = 0;
    store.addIndex('value', (object) => {
      indexed++;
      return [object.value ?? ''];
    });
    const foreign = Array.from({ length: 5_000 }, (_, i) => thing(`f${i}`, '1', `f${i}`, 'foreign'));
    store.replace([...foreign, thing('mine', '1', 'mine', 'mine')], true);
    indexed = 0;
    expect(store.lister.byIndex('value', 'mine')).toHaveLength(1);
    expect(indexed).toBe(0);
    store.upsert(thing('mine', '2', 'mine', 'mine'));
    expect(indexed).toBe(2);
  });
});

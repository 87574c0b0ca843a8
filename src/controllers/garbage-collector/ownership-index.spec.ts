import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Pod, apiVersionOf } from '../../machinery/kubernetes/index.js';
import { OwnershipIndex } from './ownership-index.js';

function anObject(type: ResourceType, uid: string, owners: readonly string[] = []): KubernetesObject {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'K', name: owner, uid: owner }));
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: uid, uid, ownerReferences } };
}

const uidsOf = (nodes: Iterable<{ object: { metadata: { uid?: string } } }>) =>
  [...nodes].map(({ object }) => object.metadata.uid).sort();

describe('the index of who owns whom', () => {
  it('finds what a scan finds, after any changes, and holds nothing of what is gone', () => {
    const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const step = fc.record({ uid, owners: fc.uniqueArray(uid, { maxLength: 3 }), gone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const index = new OwnershipIndex();
        const model = new Map<string, KubernetesObject>();
        for (const { gone, owners, uid: of } of steps) {
          const old = model.get(of);
          const object = anObject(Pod, of, owners);
          if (gone) {
            // The last state may name other owners than any state seen before.
            index.apply(Pod, { type: 'deleted', object, finalStateUnknown: false });
            model.delete(of);
          } else {
            index.apply(
              Pod,
              old ? { type: 'modified', object, old } : { type: 'added', object, initial: false },
            );
            model.set(of, object);
          }
        }
        expect(uidsOf(index.nodes())).toEqual([...model.keys()].sort());
        for (const owner of ['a', 'b', 'c', 'd', 'e', 'f']) {
          const scanned = [...model.values()].filter(({ metadata }) =>
            metadata.ownerReferences?.some((reference) => reference.uid === owner),
          );
          const found = index.dependentsOf(owner);
          expect(uidsOf(found)).toEqual(uidsOf(scanned.map((object) => ({ object }))));
          for (const { object } of found) expect(object).toBe(model.get(object.metadata.uid ?? ''));
        }
        index.removeType(Pod);
        expect(index.size + ['a', 'b', 'c'].flatMap((each) => index.dependentsOf(each)).length).toBe(0);
      }),
    );
  });

  it('takes an object of the same name and another UID for another object', () => {
    const index = new OwnershipIndex();
    const [old, object] = [anObject(Pod, 'old', ['o']), anObject(Pod, 'new', ['o'])];
    index.apply(Pod, { type: 'added', object: old, initial: false });
    index.apply(Pod, { type: 'modified', object, old });
    expect(uidsOf(index.dependentsOf('o'))).toEqual(['new']);
    expect(index.find('old')).toBeUndefined();
  });

  it('knows an object once that two groups serve, until the group that showed it first does no more', () => {
    const index = new OwnershipIndex();
    const again = { ...Deployment, group: 'extensions', version: 'v1beta1' };
    const object = anObject(Deployment, 'web', ['o']);
    for (const type of [Deployment, again]) index.apply(type, { type: 'added', object, initial: true });
    index.apply(again, { type: 'deleted', object, finalStateUnknown: false });
    expect(index.dependentsOf('o')).toEqual([{ type: Deployment, object }]);
    index.removeType(Deployment);
    index.apply(again, { type: 'modified', object, old: object });
    expect(index.dependentsOf('o')).toEqual([{ type: again, object }]);
  });

  it('forgets the objects of one type and no other', () => {
    const index = new OwnershipIndex();
    index.apply(Pod, { type: 'added', object: anObject(Pod, 'p', ['o']), initial: true });
    index.apply(Deployment, { type: 'added', object: anObject(Deployment, 'd', ['o']), initial: true });
    expect(uidsOf(index.removeType(Pod))).toEqual(['p']);
    expect(uidsOf(index.dependentsOf('o'))).toEqual(['d']);
  });
});

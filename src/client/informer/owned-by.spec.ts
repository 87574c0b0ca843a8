import { expect, it } from 'vitest';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { ownerUids } from '../../machinery/kubernetes/index.js';
import type { Lister } from './informer.js';
import { controlledBy, ownedBy } from './owned-by.js';

const anObject = (name: string, namespace: string, owner?: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ name, namespace, uid: name },
    ...(owner !== undefined && {
      ownerReferences: [{ apiVersion: 'v1', kind: 'x', name: owner, uid: owner }],
    }),
  },
});

const listerOf = (objects: readonly KubernetesObject[]): Lister<KubernetesObject> => ({
  get: () => undefined,
  list: () => objects,
  byIndex: (_index, uid) => objects.filter((object) => ownerUids(object).includes(uid)),
});

it('leaves out objects of another namespace that claim the owner', () => {
  const own = anObject('own', 'shop', 'web');
  const lister = listerOf([own, anObject('forged', 'attic', 'web'), anObject('other', 'shop', 'api')]);
  expect(ownedBy(lister, anObject('web', 'shop'))).toEqual([own]);
});

it('finds the objects of every namespace that an owner without a namespace has', () => {
  const pods = [anObject('a', 'shop', 'node'), anObject('b', 'attic', 'node')];
  const node = { metadata: { name: 'node', uid: 'node' } };
  expect(ownedBy(listerOf(pods), node)).toEqual(pods);
});

it('leaves out what an owner has without controlling it', () => {
  const owned = anObject('of-an-experiment', 'shop', 'web');
  const [reference] = owned.metadata.ownerReferences ?? [];
  const controlled: KubernetesObject = {
    ...owned,
    metadata: { ...owned.metadata, name: 'own', ownerReferences: [{ ...reference!, controller: true }] },
  };
  expect(controlledBy(listerOf([owned, controlled]), anObject('web', 'shop'))).toEqual([controlled]);
});

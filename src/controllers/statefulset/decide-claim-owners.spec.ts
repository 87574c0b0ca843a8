import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../base/kubernetes/index.js';
import type { PersistentVolumeClaim, StatefulSet } from '../../kit/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { decideClaimOwners, isStale } from './decide-claim-owners.js';

const pod = aPod({ name: 'db-1' });
const aClaim = (...ownerReferences: OwnerReference[]): PersistentVolumeClaim => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data-db-1', ownerReferences } },
  spec: {},
});
const reference = (kind: string, uid: string): OwnerReference => ({ apiVersion: 'v1', kind, name: 'n', uid });

function aSet(whenDeleted: 'Retain' | 'Delete', whenScaled: 'Retain' | 'Delete'): StatefulSet {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', uid: 'uid-db' } },
    spec: {
      ...{ selector: {}, template: {}, serviceName: 'db' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
    },
  };
}

describe('a claim goes', () => {
  it.each([
    { set: aSet('Retain', 'Retain'), isCondemned: true, owners: undefined },
    { set: aSet('Delete', 'Retain'), isCondemned: true, owners: ['StatefulSet'] },
    { set: aSet('Retain', 'Delete'), isCondemned: false, owners: undefined },
    { set: aSet('Retain', 'Delete'), isCondemned: true, owners: ['Pod'] },
    { set: aSet('Delete', 'Delete'), isCondemned: false, owners: ['StatefulSet'] },
    { set: aSet('Delete', 'Delete'), isCondemned: true, owners: ['Pod'] },
  ])('by $set.spec.persistentVolumeClaimRetentionPolicy, condemned $isCondemned, with $owners', (example) => {
    const decided = decideClaimOwners(aClaim(), example.set, pod, example);
    expect(decided?.map(({ kind }) => kind)).toEqual(example.owners);
  });

  it('with others as well, whom nobody takes off', () => {
    const claim = aClaim(reference('Backup', 'uid-b'), reference('Pod', 'uid-db-1'));
    const owners = decideClaimOwners(claim, aSet('Retain', 'Delete'), pod, { isCondemned: false });
    expect(owners?.map(({ kind }) => kind)).toEqual(['Backup']);
  });
});

it('a claim that goes with a former pod is not for the next one', () => {
  expect(isStale(aClaim(), aSet('Retain', 'Retain'))).toBe(false);
  expect(isStale(aClaim(reference('Pod', 'uid-gone')), aSet('Retain', 'Delete'))).toBe(true);
});

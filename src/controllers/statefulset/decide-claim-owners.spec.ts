import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../machinery/kubernetes/index.js';
import type { PersistentVolumeClaim, StatefulSet } from '../../runtime/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { decideClaimOwners, isStaleClaim } from './decide-claim-owners.js';

const wantedPod = aPod({ name: 'db-0' });
const condemnedPod = aPod({ name: 'db-1' });
const aClaim = (...ownerReferences: OwnerReference[]): PersistentVolumeClaim => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data-db-1', ownerReferences } },
  spec: {},
});
const ofSet = (uid: string, controller = true): OwnerReference => ({
  ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller },
});
const ofPod = (uid: string): OwnerReference => ({
  ...{ apiVersion: 'v1', kind: 'Pod', name: 'db-1', uid, controller: true },
});
const ofBackup = (controller: boolean): OwnerReference => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Backup', name: 'nightly', uid: 'uid-b', controller },
});

function aSet(whenDeleted: 'Retain' | 'Delete', whenScaled: 'Retain' | 'Delete'): StatefulSet {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', uid: 'uid-db' } },
    spec: {
      ...{ replicas: 1, selector: {}, template: {}, serviceName: 'db' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
    },
  };
}

describe('a claim goes', () => {
  it.each([
    { set: aSet('Retain', 'Retain'), pod: condemnedPod, owners: undefined },
    { set: aSet('Delete', 'Retain'), pod: condemnedPod, owners: ['StatefulSet'] },
    { set: aSet('Retain', 'Delete'), pod: wantedPod, owners: undefined },
    { set: aSet('Retain', 'Delete'), pod: condemnedPod, owners: ['Pod'] },
    { set: aSet('Delete', 'Delete'), pod: wantedPod, owners: ['StatefulSet'] },
    { set: aSet('Delete', 'Delete'), pod: condemnedPod, owners: ['Pod'] },
  ])(
    'by $set.spec.persistentVolumeClaimRetentionPolicy, for $pod.metadata.name of one replica, with $owners',
    (example) => {
      const { isConflicting, owners } = decideClaimOwners(aClaim(), example.set, example.pod);
      expect(owners?.map(({ kind }) => kind)).toEqual(example.owners);
      expect(isConflicting).toBe(false);
    },
  );
});

describe('the owners of a claim', () => {
  const owners = (claim: PersistentVolumeClaim, set: StatefulSet) =>
    decideClaimOwners(claim, set, condemnedPod);

  it('others stay', () => {
    const decided = owners(aClaim(ofBackup(false), ofSet('uid-db')), aSet('Retain', 'Retain'));
    expect(decided).toEqual({ owners: [ofBackup(false)], isConflicting: false });
  });

  it('ours becomes the controller', () => {
    const decided = owners(aClaim(ofSet('uid-db', false)), aSet('Delete', 'Retain'));
    expect(decided.owners).toEqual([{ ...ofSet('uid-db'), blockOwnerDeletion: true }]);
  });

  it.each([
    { name: 'a former set of that name', claim: aClaim(ofSet('uid-before')) },
    { name: 'a former pod of that name', claim: aClaim(ofPod('uid-before')) },
  ])('$name keeps its claim, which is left to the garbage collector', ({ claim }) => {
    expect(owners(claim, aSet('Delete', 'Delete')).owners).toBeUndefined();
  });

  it('another controller keeps its claim, and ours is taken off', () => {
    const set = aSet('Delete', 'Delete');
    expect(owners(aClaim(ofBackup(true)), set)).toEqual({ owners: undefined, isConflicting: true });
    expect(owners(aClaim(ofBackup(true), ofSet('uid-db')), set)).toEqual({
      owners: [ofBackup(true)],
      isConflicting: true,
    });
  });

  it('another controller is none of our business where no claim is ever deleted', () => {
    expect(owners(aClaim(ofBackup(true)), aSet('Retain', 'Retain')).isConflicting).toBe(false);
  });
});

it('a claim that goes with a former pod is not for the next one, where claims go with pods at all', () => {
  expect(isStaleClaim(aClaim(), aSet('Retain', 'Delete'), 'db-1')).toBe(false);
  expect(isStaleClaim(aClaim(ofPod('uid-gone')), aSet('Retain', 'Delete'), 'db-1')).toBe(true);
  expect(isStaleClaim(aClaim(ofPod('uid-gone')), aSet('Delete', 'Retain'), 'db-1')).toBe(false);
});

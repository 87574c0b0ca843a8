import { describe, expect, it } from 'vitest';
import { aPod } from '../../../testing/pod-builder.js';
import { aReplicaSet } from '../../../testing/replicaset-harness.js';
import { adoptionPatch, decideClaims, releasePatch } from './claim-decision.js';

const owner = { ...aReplicaSet(), metadata: { ...aReplicaSet().metadata, uid: 'rs' } };
const leaving = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
const elsewhere = aPod();
elsewhere.metadata.namespace = 'other';
const claimed = aPod({ ownerUid: 'rs' });
claimed.metadata.namespace = 'other';

const other = { app: 'db' };
const rows = [
  { name: 'its own that it selects is owned', pod: aPod({ ownerUid: 'rs' }), is: 'owned' },
  {
    name: 'its own that it no longer selects is released',
    pod: aPod({ ownerUid: 'rs', labels: other }),
    is: 'release',
  },
  { name: 'an orphan that it selects is adopted', pod: aPod(), is: 'adopt' },
  { name: 'an orphan that it does not select is left alone', pod: aPod({ labels: other }), is: 'none' },
  { name: 'what another owns is left alone', pod: aPod({ ownerUid: 'other' }), is: 'none' },
  { name: 'an orphan being deleted is left alone', pod: aPod({ deletedAt: 'now' }), is: 'none' },
  { name: 'an orphan of another namespace is left alone', pod: elsewhere, is: 'none' },
  { name: 'a pod of another namespace that names it as its owner is left alone', pod: claimed, is: 'none' },
  { name: 'a leaving owner keeps its own', by: leaving, pod: aPod({ ownerUid: 'rs' }), is: 'owned' },
  {
    name: 'a leaving owner releases nothing',
    by: leaving,
    pod: aPod({ ownerUid: 'rs', labels: other }),
    is: 'none',
  },
  { name: 'a leaving owner adopts nothing', by: leaving, pod: aPod(), is: 'none' },
];

describe('decideClaims', () => {
  it.each(rows)('$name', ({ by = owner, pod, is }) => {
    const decision = decideClaims({
      owner: by,
      selects: (labels) => labels?.app === 'web',
      candidates: [pod],
    });
    const found = Object.entries(decision).filter(([, pods]) => pods.length > 0);
    expect(found.map(([kind]) => kind)).toEqual(is === 'none' ? [] : [is]);
  });

  it('patches carry the UID of the child, so that a namesake is not meant', () => {
    expect(adoptionPatch(owner, aPod({ uid: 'p' }))).toMatchObject({
      metadata: { uid: 'p', ownerReferences: [{ uid: 'rs', controller: true, name: 'web' }] },
    });
    expect(releasePatch(owner, aPod({ uid: 'p' }))).toEqual({
      metadata: { uid: 'p', ownerReferences: [{ $patch: 'delete', uid: 'rs' }] },
    });
  });
});

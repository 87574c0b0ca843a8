import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../machinery/kubernetes/index.js';
import type { ClassifiedOwner, OwnerState } from './decide-collection.js';
import { decideCollection, decideOwnerDuty } from './decide-collection.js';

const anOwner = (state: OwnerState, uid: string = state): ClassifiedOwner => ({
  state,
  reference: refTo(uid),
});
const refTo = (uid: string, blockOwnerDeletion = true): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: uid,
  uid,
  blockOwnerDeletion,
});
const anObject = (metadata: Partial<ObjectMeta> = {}): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'default', uid: 'self', ...metadata },
});
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('decideCollection', () => {
  it.each<{ name: string; owners: ClassifiedOwner[]; metadata?: Partial<ObjectMeta>; plan: object }>([
    { name: 'keeps what nobody owns', owners: [], plan: { action: 'keep' } },
    { name: 'keeps what a solid owner has', owners: [anOwner('solid')], plan: { action: 'keep' } },
    {
      name: 'drops the references to all but the solid owner',
      owners: [anOwner('solid'), anOwner('dangling'), anOwner('waiting')],
      plan: { action: 'drop-references', uids: ['dangling', 'waiting'] },
    },
    {
      name: 'deletes in the background what has dangling owners alone',
      owners: [anOwner('dangling')],
      plan: { action: 'delete', policy: 'Background', unblockOwners: false },
    },
    {
      name: 'deletes in the background what a waiting owner has and owns nothing itself',
      owners: [anOwner('waiting')],
      plan: { action: 'delete', policy: 'Background', unblockOwners: false },
    },
    {
      name: 'keeps the finalizer orphan in force',
      owners: [anOwner('dangling')],
      metadata: { finalizers: ['orphan'] },
      plan: { action: 'delete', policy: 'Orphan', unblockOwners: false },
    },
    {
      name: 'keeps the finalizer foregroundDeletion in force',
      owners: [anOwner('dangling')],
      metadata: { finalizers: ['foregroundDeletion'] },
      plan: { action: 'delete', policy: 'Foreground', unblockOwners: false },
    },
    {
      name: 'leaves alone what is being deleted already',
      owners: [anOwner('dangling')],
      metadata: deleting,
      plan: { action: 'keep' },
    },
  ])('$name', ({ owners, metadata, plan }) => {
    expect(decideCollection(anObject(metadata), owners, [])).toEqual(plan);
  });

  it('deletes in the foreground what a waiting owner has and owns something itself', () => {
    expect(decideCollection(anObject(), [anOwner('waiting')], [anObject({ name: 'child' })])).toEqual({
      action: 'delete',
      policy: 'Foreground',
      unblockOwners: false,
    });
  });

  it('breaks a circle of objects that wait for each other by letting the owners go', () => {
    const circle = anObject({ name: 'child', finalizers: ['foregroundDeletion'], ...deleting });
    const object = anObject({ ownerReferences: [refTo('waiting')] });
    expect(decideCollection(object, [anOwner('waiting')], [circle])).toMatchObject({ unblockOwners: true });
  });

  it('never deletes an object that has a solid owner', () => {
    const states = fc.array(fc.constantFrom<OwnerState>('solid', 'dangling', 'waiting'), { maxLength: 6 });
    fc.assert(
      fc.property(states, fc.boolean(), (owners, hasDependents) => {
        const plan = decideCollection(
          anObject(),
          owners.map((state, index) => anOwner(state, `${state}-${index}`)),
          hasDependents ? [anObject({ name: 'child' })] : [],
        );
        const expected =
          owners.length === 0 || owners.every((state) => state === 'solid')
            ? 'keep'
            : owners.includes('solid')
              ? 'drop-references'
              : 'delete';
        expect(plan.action).toBe(expected);
      }),
    );
  });
});

describe('decideOwnerDuty', () => {
  const foreground = { ...deleting, finalizers: ['foregroundDeletion'] };
  const child = (blocks: boolean): KubernetesObject =>
    anObject({ name: 'child', ownerReferences: [refTo('self', blocks)] });

  const dutyOf = (object: KubernetesObject, dependents: KubernetesObject[], isFilling = false) =>
    decideOwnerDuty(object, { dependents, isFilling });

  it('has none while the object is not being deleted', () => {
    const living = anObject({ finalizers: ['orphan', 'foregroundDeletion'] });
    expect(dutyOf(living, [child(true)])).toEqual({ action: 'none' });
  });

  it('waits for the dependents that block the owner', () => {
    expect(dutyOf(anObject(foreground), [child(true), child(false)])).toMatchObject({
      action: 'wait-for-dependents',
      blocking: [{ metadata: { name: 'child' } }],
    });
  });

  it('does not wait for dependents that do not block', () => {
    expect(dutyOf(anObject(foreground), [child(false)])).toEqual({
      action: 'remove-finalizer',
      finalizer: 'foregroundDeletion',
    });
  });

  it('orphans before it waits', () => {
    const both = { ...deleting, finalizers: ['foregroundDeletion', 'orphan'] };
    expect(dutyOf(anObject(both), [child(true)]).action).toBe('orphan-dependents');
    expect(dutyOf(anObject(both), [])).toEqual({ action: 'remove-finalizer', finalizer: 'orphan' });
  });

  it('concludes nothing from there being no dependent while a type is listed for the first time', () => {
    const orphaning = anObject({ ...deleting, finalizers: ['orphan'] });
    expect(dutyOf(orphaning, [], true).action).toBe('wait-for-caches');
    expect(dutyOf(orphaning, [child(true)], true).action).toBe('wait-for-caches');
    expect(dutyOf(anObject(foreground), [child(false)], true).action).toBe('wait-for-caches');
    expect(dutyOf(anObject(foreground), [child(true)], true).action).toBe('wait-for-dependents');
    expect(dutyOf(anObject(), [], true).action).toBe('none');
  });
});

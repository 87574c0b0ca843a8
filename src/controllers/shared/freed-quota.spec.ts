import { describe, expect, it } from 'vitest';
import type { ResourceQuota } from '../../machinery/kubernetes/index.js';
import { NAMESPACE_INDEX, StatefulSet } from '../../runtime/index.js';
import type { ListerOf } from '../../runtime/index.js';
import { isRoomFreed, watchFreedRoom } from './freed-quota.js';

const quota = (hard: string, used: string): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'default' },
  status: {
    hard: { pods: hard, 'requests.memory': '1Gi' },
    used: { pods: used, 'requests.memory': '512Mi' },
  },
});

describe('room under a quota', () => {
  it.each([
    { what: 'less is used', old: quota('5', '5'), now: quota('5', '4'), freed: true },
    { what: 'more is allowed', old: quota('5', '5'), now: quota('6', '5'), freed: true },
    { what: 'more is used', old: quota('5', '4'), now: quota('5', '5'), freed: false },
    { what: 'less is allowed', old: quota('5', '5'), now: quota('4', '5'), freed: false },
    {
      what: 'the same is written in another way',
      old: quota('5', '5'),
      now: quota('5000m', '5'),
      freed: false,
    },
    {
      what: 'a resource is not limited any more',
      old: quota('5', '5'),
      now: { ...quota('5', '5'), status: { hard: {}, used: {} } },
      freed: true,
    },
  ])('is there or not when $what: $freed', ({ freed, now, old }) => {
    expect(isRoomFreed({ type: 'modified', old, object: now })).toBe(freed);
  });

  it('is there when the quota is gone, and not when there is a new one', () => {
    expect(isRoomFreed({ type: 'deleted', object: quota('5', '5'), finalStateUnknown: false })).toBe(true);
    expect(isRoomFreed({ type: 'added', object: quota('5', '0'), initial: false })).toBe(false);
  });
});

describe('the objects that a controller watches for room', () => {
  it('wakes what lacks pods in the namespace of the quota', () => {
    const sets = [0, 2].map((replicas) => ({
      metadata: { namespace: 'default', name: `has-${replicas}` },
      status: { replicas },
    }));
    const byIndex = (index: string, value: string) =>
      index === NAMESPACE_INDEX && value === 'default' ? sets : [];
    const listerOf = (() => ({ byIndex })) as unknown as ListerOf;
    const { map, predicates } = watchFreedRoom(StatefulSet, ({ status }) => (status?.replicas ?? 0) < 2);
    expect([...map(quota('5', '4'), listerOf)]).toEqual([{ namespace: 'default', name: 'has-0' }]);
    expect([...map({ ...quota('5', '4'), metadata: { name: 'q', namespace: 'other' } }, listerOf)]).toEqual(
      [],
    );
    expect(predicates).toEqual([isRoomFreed]);
  });
});

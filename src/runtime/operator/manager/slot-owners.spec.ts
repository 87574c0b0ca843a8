import { describe, expect, it } from 'vitest';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import type { AssignedSlot } from '../../slots/index.js';
import { HeldSlots } from '../../slots/index.js';
import { slotOwnersOf } from './slot-owners.js';

const COUNT = 2;

describe('the replicas that work on namespaces', () => {
  const held = new HeldSlots(COUNT);
  const keeper: { slots: readonly AssignedSlot[] } = { slots: [] };
  const controllers = [
    { controller: { name: 'deployment' }, worksOn: 'slots' as const },
    { controller: { name: 'namespace' }, worksOn: 'leader' as const },
    {
      controller: { name: 'garbage-collector' },
      worksOn: 'slots' as const,
      namespaceOf: ({ namespace }: ObjectRef) => namespace?.split('|')[1],
    },
  ];
  const owners = slotOwnersOf({ held, keeper }, controllers);
  const [inFirst = '', inSecond = ''] = [0, 1].map((slot) => {
    for (let at = 0; ; at++) if (held.slotOf(`n${at}`) === slot) return `n${at}`;
  });

  it('are unknown before the table of slots has been read', () => {
    expect(owners.ownerOf('shop')).toBeUndefined();
    expect(owners.owned().size).toBe(0);
  });

  it('are those that the table names, under their identities', () => {
    keeper.slots = [
      { owner: 'controller-1_life', standby: '', epoch: 1 },
      { owner: '', standby: '', epoch: 1 },
    ];
    expect([inFirst, inSecond].map((namespace) => owners.ownerOf(namespace))).toEqual([
      'controller-1',
      undefined,
    ]);
    expect([...owners.owned()]).toEqual([['controller-1', 1]]);
    expect(owners.unowned()).toBe(1);
  });

  it('spread the keys of the controllers in slots alone', () => {
    expect(['deployment', 'namespace', 'other'].map((name) => owners.spreads(name))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('spread a key by the namespace that its controller finds in it', () => {
    expect(owners.namespaceOf('deployment', 'shop/web')).toBe('shop');
    expect(owners.namespaceOf('garbage-collector', 'pods|shop/web-1')).toBe('shop');
    expect(owners.namespaceOf('namespace', 'shop')).toBeUndefined();
  });
});

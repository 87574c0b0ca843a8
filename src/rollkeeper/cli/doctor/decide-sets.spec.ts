import { describe, expect, it } from 'vitest';
import type { StatefulSet } from '../../../runtime/index.js';
import { decideSets } from './decide-sets.js';
import { answered, notAsked } from './finding.js';

/** A set that asks for steps, and has the state that was noted for the set with this UID. */
const notedFor = (uid: string): Record<string, string> => ({
  'rollkeeper.dev/steps': '1',
  'rollkeeper.dev/rollout': JSON.stringify({ uid, revision: '1' }),
});
const aSet = (partition: number, metadata: Partial<StatefulSet['metadata']> = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'shop', uid: 'uid-db', annotations: notedFor('uid-db'), ...metadata },
  spec: {
    selector: {},
    serviceName: '',
    template: {},
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
  },
  status: { replicas: 1, currentRevision: 'db-1', updateRevision: 'db-1' },
});
const HELD = 2 ** 31 - 1;

describe('the StatefulSets of an installation', () => {
  it('are held where policies are asked for, and their controller runs', () => {
    expect(decideSets(answered([aSet(HELD)]), true)).toMatchObject([
      { level: 'ok', summary: '1 StatefulSet (shop/db) is held at rest, or rolling out' },
    ]);
    expect(decideSets(answered([aSet(0)]), true)).toMatchObject([
      { level: 'warning', summary: expect.stringContaining('at rest and not held') },
    ]);
    expect(decideSets(answered([aSet(HELD)]), false)).toMatchObject([
      {
        level: 'warning',
        summary: expect.stringContaining('(shop/db) asks for rollout policies that no replica follows'),
      },
    ]);
  });

  it('are looked at without the options of a replica, which none was asked for', () => {
    expect(decideSets(answered([aSet(HELD), aSet(HELD)]), undefined)).toMatchObject([
      { level: 'ok', summary: '2 StatefulSets (shop/db, shop/db) are held at rest, or rolling out' },
    ]);
    expect(decideSets(answered([aSet(0)]), undefined)).toMatchObject([{ level: 'warning' }]);
  });

  it('are followed by no controller while none has noted their rollout, or the note was copied from another set', () => {
    const unseen = [{ 'rollkeeper.dev/steps': '1' }, notedFor('uid-of-another')];
    for (const annotations of unseen)
      for (const isOn of [true, undefined])
        expect(decideSets(answered([aSet(HELD, { annotations })]), isOn)).toMatchObject([
          {
            level: 'warning',
            summary: expect.stringMatching(/\(shop\/db\) asks .* no controller has noted/),
          },
        ]);
  });

  it('are not held where another tool applies their partition', () => {
    const text = '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}';
    const annotations = {
      'rollkeeper.dev/steps': '1',
      'kubectl.kubernetes.io/last-applied-configuration': text,
    };
    expect(decideSets(answered([aSet(0, { annotations })]), true)).toMatchObject([
      { level: 'warning', summary: expect.stringContaining('also written by another tool') },
    ]);
  });

  it('are not spoken of where none asks for a policy, or they cannot be listed', () => {
    expect(decideSets(answered([aSet(0, { annotations: {} })]), true)).toEqual([]);
    expect(decideSets(notAsked('no right'), true)).toEqual([]);
  });
});

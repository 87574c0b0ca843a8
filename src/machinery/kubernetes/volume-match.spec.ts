import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from './volumes.js';
import { findVolume, givingPatch, isBoundTo, mismatchOf } from './volume-match.js';

const aClaim = (spec: Partial<PersistentVolumeClaim['spec']> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a', uid: 'claim-1', resourceVersion: '7' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '2Gi' } },
    storageClassName: 'slow',
    ...spec,
  },
});

const aVolume = (
  name: string,
  spec: Partial<PersistentVolume['spec']> = {},
  metadata: Partial<PersistentVolume['metadata']> = {},
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '3', ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
    capacity: { storage: '2Gi' },
    storageClassName: 'slow',
    ...spec,
  },
  status: { phase: 'Available' },
});

const onlyOn = (zone: string): PersistentVolume['spec']['nodeAffinity'] => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
});
const aNode = (zone: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `node-${zone}`, labels: { zone } },
});

describe('the volume that a claim gets', () => {
  it('is the smallest that is large enough', () => {
    const sizes = { '10G': '10Gi', '3G': '3Gi', '1G': '1Gi', '4G': '4Gi' };
    const volumes = Object.entries(sizes).map(([name, storage]) => aVolume(name, { capacity: { storage } }));
    expect(findVolume(aClaim(), volumes)?.metadata.name).toBe('3G');
  });

  it.each<[string, PersistentVolume]>([
    ['is of another class', aVolume('v', { storageClassName: 'fast' })],
    ['cannot be mounted as it is asked for', aVolume('v', { accessModes: ['ReadOnlyMany'] })],
    ['is a device and no file system', aVolume('v', { volumeMode: 'Block' })],
    ['is too small', aVolume('v', { capacity: { storage: '1Gi' } })],
    ['is being deleted', aVolume('v', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['is kept for somebody else', aVolume('v', { claimRef: { name: 'other', namespace: 'a' } })],
    [
      'was of a former claim of that name',
      aVolume('v', { claimRef: { name: 'data', namespace: 'a', uid: 'x' } }),
    ],
    ['is not free yet', { ...aVolume('v'), status: { phase: 'Pending' } }],
  ])('is none that %s', (_why, volume) => {
    expect(findVolume(aClaim(), [volume])).toBeUndefined();
  });

  it('has the labels that the claim selects', () => {
    const claim = aClaim({ selector: { matchLabels: { disk: 'ssd' } } });
    const volumes = [aVolume('hdd'), aVolume('ssd', {}, { labels: { disk: 'ssd' } })];
    expect(findVolume(claim, volumes)?.metadata.name).toBe('ssd');
  });

  it('is the one that is kept for it, whatever its class and although a smaller one is free', () => {
    const kept = aVolume('kept', {
      ...{ capacity: { storage: '9Gi' }, storageClassName: 'fast' },
      claimRef: { name: 'data', namespace: 'a' },
    });
    expect(findVolume(aClaim(), [aVolume('small'), kept])?.metadata.name).toBe('kept');
    expect(findVolume(aClaim(), [aVolume('small'), kept], { isDelayed: true })?.metadata.name).toBe('kept');
  });

  it('is left to the scheduler to choose where the class waits for it', () => {
    expect(findVolume(aClaim(), [aVolume('free')], { isDelayed: true })).toBeUndefined();
  });

  it('is within reach of the node, and nobody has spoken for it', () => {
    const volumes = ['a', 'b'].map((zone) => aVolume(zone, { nodeAffinity: onlyOn(zone) }));
    expect(findVolume(aClaim(), volumes, { node: aNode('b') })?.metadata.name).toBe('b');
    expect(findVolume(aClaim(), volumes, { node: aNode('c') })).toBeUndefined();
    expect(findVolume(aClaim(), volumes, { node: aNode('b'), taken: new Set(['b']) })).toBeUndefined();
  });
});

describe('giving a volume to a claim', () => {
  it('says that it was our own choice, and succeeds from the state that was seen alone', () => {
    expect(givingPatch(aVolume('v'), aClaim())).toEqual({
      metadata: {
        uid: 'uid-v',
        resourceVersion: '3',
        annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' },
      },
      spec: {
        claimRef: {
          ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'a', name: 'data' },
          ...{ uid: 'claim-1', resourceVersion: '7' },
        },
      },
    });
  });

  it('completes what people have begun, and writes nothing twice', () => {
    const kept = aVolume('v', { claimRef: { name: 'data', namespace: 'a' } });
    expect(givingPatch(kept, aClaim())).not.toHaveProperty('metadata.annotations');
    const given = aVolume('v', { claimRef: { name: 'data', namespace: 'a', uid: 'claim-1' } });
    expect(isBoundTo(given, aClaim())).toBe(true);
    expect(givingPatch(given, aClaim())).toBeUndefined();
  });
});

it.each<[string | undefined, Partial<PersistentVolume['spec']>]>([
  [undefined, {}],
  ['requested PV is too small', { capacity: { storage: '1Gi' } }],
  ['storageClassName does not match', { storageClassName: '' }],
  ['incompatible volumeMode', { volumeMode: 'Block' }],
  ['incompatible accessMode', { accessModes: ['ReadOnlyMany'] }],
])('a volume that a claim names: %s', (mismatch, spec) => {
  expect(mismatchOf(aVolume('v', spec), aClaim())).toBe(mismatch);
});

import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../runtime/index.js';
import { decideForClaim, isToBeDeleted } from './decide-volumes.js';

const OURS = 'simulator.rollkeeper.dev/volumes';
const ASKED = { 'volume.kubernetes.io/storage-provisioner': OURS };
const SELECTED = { 'volume.kubernetes.io/selected-node': 'node-1' };

const aClass = (more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard' },
  provisioner: OURS,
  ...more,
});

const aClaim = (
  annotations: Record<string, string> = ASKED,
  spec: Partial<PersistentVolumeClaim['spec']> = {},
  status: PersistentVolumeClaim['status'] = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a', uid: '1', resourceVersion: '5', annotations },
  spec: {
    accessModes: ['ReadWriteMany'],
    resources: { requests: { storage: '2Gi' } },
    storageClassName: 'standard',
    ...spec,
  },
  status,
});

const aVolume = (
  provisioner = OURS,
  phase: 'Bound' | 'Released' = 'Bound',
  policy: 'Delete' | 'Retain' = 'Delete',
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pvc-1', annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
  spec: { claimRef: { uid: '1' }, persistentVolumeReclaimPolicy: policy },
  status: { phase },
});

describe('a claim that asks for a volume', () => {
  it('gets one of its size and modes, with the policy of its class, under a name that every try gives it', () => {
    const storageClass = aClass({ reclaimPolicy: 'Retain', mountOptions: ['ro'] });
    const decision = decideForClaim(aClaim(), storageClass, undefined);
    expect(decision).toMatchObject({
      action: 'make',
      volume: {
        metadata: { name: 'pvc-1', annotations: { 'pv.kubernetes.io/provisioned-by': OURS } },
        spec: {
          accessModes: ['ReadWriteMany'],
          capacity: { storage: '2Gi' },
          claimRef: { kind: 'PersistentVolumeClaim', name: 'data', namespace: 'a', uid: '1' },
          mountOptions: ['ro'],
          persistentVolumeReclaimPolicy: 'Retain',
          storageClassName: 'standard',
        },
      },
    });
    expect(decideForClaim(aClaim(), storageClass, undefined)).toEqual(decision);
  });

  it.each<[string, PersistentVolumeClaim, StorageClass | undefined]>([
    ['has asked nobody yet', aClaim({}), aClass()],
    ['has asked somebody else', aClaim({ [Object.keys(ASKED)[0]!]: 'example.com/disks' }), aClass()],
    ['names a class of somebody else', aClaim(), aClass({ provisioner: 'example.com/disks' })],
    ['names a class that is gone', aClaim(), undefined],
    ['has no node yet', aClaim(), aClass({ volumeBindingMode: 'WaitForFirstConsumer' })],
  ])('gets none while it %s', (_why, claim, storageClass) => {
    expect(decideForClaim(claim, storageClass, undefined)).toEqual({ action: 'nothing' });
  });

  it('gets one when its node is known', () => {
    const late = aClass({ volumeBindingMode: 'WaitForFirstConsumer' });
    expect(decideForClaim(aClaim({ ...ASKED, ...SELECTED }), late, undefined).action).toBe('make');
  });

  it('is told that there is nothing to select from', () => {
    const picky = aClaim(ASKED, { selector: { matchLabels: { a: 'b' } } });
    expect(decideForClaim(picky, aClass(), undefined)).toEqual({
      action: 'refuse',
      why: 'claim Selector is not supported',
    });
  });
});

describe('a bound claim', () => {
  const bound = (has: string) =>
    aClaim({}, { volumeName: 'pvc-1' }, { phase: 'Bound', capacity: { storage: has } });
  const growing = aClass({ allowVolumeExpansion: true });

  it('grows when it asks for more than it has, if its class lets it and the volume is ours', () => {
    expect(decideForClaim(bound('1Gi'), growing, aVolume())).toEqual({ action: 'grow', size: '2Gi' });
    expect(decideForClaim(bound('2048Mi'), growing, aVolume())).toEqual({ action: 'nothing' });
    expect(decideForClaim(bound('1Gi'), aClass(), aVolume())).toEqual({ action: 'nothing' });
    expect(decideForClaim(bound('1Gi'), growing, aVolume('other'))).toEqual({ action: 'nothing' });
  });
});

it.each([
  [true, aVolume(OURS, 'Released')],
  [false, aVolume(OURS, 'Bound')],
  [false, aVolume(OURS, 'Released', 'Retain')],
  [false, aVolume('example.com/disks', 'Released')],
])('takes a volume of its own away when it is released and nobody keeps it: %s', (expected, volume) => {
  expect(isToBeDeleted(volume)).toBe(expected);
});

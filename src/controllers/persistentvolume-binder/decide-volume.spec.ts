import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../runtime/index.js';
import { decideReclaim, decideVolume, unboundRef } from './decide-volume.js';

const PROVISIONED = { 'pv.kubernetes.io/provisioned-by': 'example.com/disks' };
const OUR_CHOICE = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
const REF = { name: 'data', namespace: 'a', uid: 'claim-1' };

const aVolume = (
  spec: Partial<PersistentVolume['spec']> = {},
  annotations: Record<string, string> = {},
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v', annotations },
  spec: { claimRef: REF, ...spec },
});

const aClaim = (volumeName: string | undefined, uid = 'claim-1'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a', uid },
  spec: volumeName === undefined ? {} : { volumeName },
});

const DELETED = { persistentVolumeReclaimPolicy: 'Delete' } as const;

describe('a volume', () => {
  it.each<[string, PersistentVolume, PersistentVolumeClaim | undefined]>([
    ['is available without a claim', { ...aVolume(), spec: {} }, undefined],
    ['is available while it is kept for one', aVolume({ claimRef: { name: 'data' } }), aClaim(undefined)],
  ])('%s', (_rule, volume, claim) => {
    expect(decideVolume(volume, claim)).toEqual({ action: 'set-phase', phase: 'Available' });
  });

  it('is bound when its claim says so too, and until then the claim goes first', () => {
    expect(decideVolume(aVolume(), aClaim('v'))).toEqual({ action: 'set-phase', phase: 'Bound' });
    expect(decideVolume(aVolume(), aClaim(undefined))).toEqual({ action: 'nothing' });
  });

  it('is released when its claim is gone, also when there is another one of that name', () => {
    expect(decideVolume(aVolume(), undefined)).toEqual({ action: 'release' });
    expect(decideVolume(aVolume(), aClaim('v', 'claim-2'))).toEqual({ action: 'release' });
  });

  it('is free again when its claim has got another one, unless it was made for that claim', () => {
    expect(decideVolume(aVolume(), aClaim('other'))).toEqual({ action: 'unbind' });
    expect(decideVolume(aVolume(DELETED), aClaim('other'))).toEqual({ action: 'unbind' });
    expect(decideVolume(aVolume(DELETED, PROVISIONED), aClaim('other'))).toEqual({ action: 'release' });
  });

  it('stays kept for the claim that people have written into it', () => {
    expect(unboundRef(aVolume({}, OUR_CHOICE))).toBeNull();
    expect(unboundRef(aVolume())).toEqual({ name: 'data', namespace: 'a', uid: null, resourceVersion: null });
  });
});

describe('a released volume', () => {
  it.each([
    ['is kept', aVolume({ persistentVolumeReclaimPolicy: 'Retain' }), undefined],
    ['is left to whoever made it', aVolume(DELETED, PROVISIONED), undefined],
    ['fails where nobody made it', aVolume(DELETED), 'VolumeFailedDelete'],
    ['is never recycled', aVolume({ persistentVolumeReclaimPolicy: 'Recycle' }), 'VolumeFailedRecycle'],
  ])('%s', (_rule, volume, reason) => {
    expect(decideReclaim(volume)?.reason).toBe(reason);
  });
});

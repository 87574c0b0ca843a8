import { expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../runtime/index.js';
import { attributesClassesOf } from '../storage-protection/storage-protection.js';
import { isToBeExpanded } from './persistentvolume-expander.js';

const VOLUME: PersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv-1' },
  spec: { volumeAttributesClassName: 'silver' },
};
const aClaim = (asks: string, has: string, phase: 'Bound' | 'Pending' = 'Bound'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a' },
  spec: { resources: { requests: { storage: asks } }, volumeAttributesClassName: 'gold' },
  status: {
    phase,
    capacity: { storage: has },
    currentVolumeAttributesClassName: 'bronze',
  },
});

it('a claim has to be expanded when it is bound and asks for more than it has', () => {
  expect(isToBeExpanded(aClaim('2Gi', '1Gi'), VOLUME)).toBe(true);
  expect(isToBeExpanded(aClaim('1024Mi', '1Gi'), VOLUME)).toBe(false);
  expect(isToBeExpanded(aClaim('2Gi', '1Gi', 'Pending'), VOLUME)).toBe(false);
  expect(isToBeExpanded(aClaim('2Gi', '1Gi'), undefined)).toBe(false);
});

it('a VolumeAttributesClass is in use by a claim that asks for it or has it, and by a volume', () => {
  expect(attributesClassesOf(aClaim('1Gi', '1Gi'), undefined)).toEqual(['gold', 'bronze']);
  expect(attributesClassesOf(undefined, VOLUME)).toEqual(['silver']);
  expect(attributesClassesOf(undefined, undefined)).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { setOf } from './field-set.js';
import { managerKey, readOwners, writeOwners } from './managers.js';
import type { ManagedFieldsEntry } from './managers.js';
import { ownersAfterScale, ownersOfScale } from './scale-owners.js';

const REPLICAS = setOf(['f:spec', 'f:replicas']);
const entry = (
  manager: string,
  spec: Record<string, Record<string, never>>,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry => ({
  ...{ manager, operation: 'Apply', apiVersion: 'apps/v1', time: '2026-01-01T00:00:00Z' },
  ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': spec }, ...more },
});
const ownersOf = (...entries: ManagedFieldsEntry[]) => readOwners(entries)!;

describe('the owners of a Scale', () => {
  const owners = ownersOf(
    entry('both', { 'f:paused': {}, 'f:replicas': {} }),
    entry('other', { 'f:paused': {} }),
  );

  it('are those who own the replica count, and own nothing else of it', () => {
    const scale = writeOwners(ownersOfScale(owners, REPLICAS));
    expect(scale).toEqual([entry('both', { 'f:replicas': {} }, { apiVersion: 'autoscaling/v1' })]);
  });

  it('keep what else they own when they lose it to another', () => {
    const taker = { name: 'taker', operation: 'Apply', apiVersion: 'apps/v1', subresource: 'scale' } as const;
    const scale = new Map([
      [managerKey(taker), { manager: taker, fields: REPLICAS, time: '2026-02-02T00:00:00Z' }],
    ]);
    const place = { replicas: REPLICAS, apiVersion: 'apps/v1' };
    expect(writeOwners(ownersAfterScale(owners, scale, place))).toEqual([
      entry('both', { 'f:paused': {} }),
      entry('other', { 'f:paused': {} }),
      entry('taker', { 'f:replicas': {} }, { subresource: 'scale', time: '2026-02-02T00:00:00Z' }),
    ]);
  });

  it('stay as they are if no one takes the field', () => {
    const place = { replicas: REPLICAS, apiVersion: 'apps/v1' };
    const after = ownersAfterScale(owners, ownersOfScale(owners, REPLICAS), place);
    expect(writeOwners(after)).toEqual(writeOwners(owners));
  });

  it('go when the count was all that they owned', () => {
    const scaler = ownersOf(entry('scaler', { 'f:replicas': {} }));
    const place = { replicas: REPLICAS, apiVersion: 'apps/v1' };
    expect(ownersAfterScale(scaler, new Map(), place).size).toBe(0);
  });
});

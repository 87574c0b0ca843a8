import { describe, expect, it } from 'vitest';
import { bindingStateOf, hasBindingConditions, isBindingOverdue } from './binding-conditions.js';
import type { ReadableClaim } from './resource-api.js';

const IDS = { driver: 'd', pool: 'p', device: 'x' };
const DEVICE = { request: 'r', ...IDS, bindingConditions: ['Ready'], bindingFailureConditions: ['Failed'] };

const aClaim = (conditions: readonly object[] = [], devices: readonly object[] = [DEVICE]): ReadableClaim =>
  ({
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name: 'c' }, spec: {} },
    status: {
      allocation: { devices: { results: devices }, allocationTimestamp: '2026-01-01T00:00:00Z' },
      devices: [{ ...IDS, conditions }],
    },
  }) as unknown as ReadableClaim;

describe('a claim with devices that have to be prepared', () => {
  it('waits until its driver says that each is', () => {
    expect(bindingStateOf(aClaim()).is).toBe('waiting');
    expect(bindingStateOf(aClaim([{ type: 'Ready', status: 'False' }])).is).toBe('waiting');
    expect(bindingStateOf(aClaim([{ type: 'Ready', status: 'True' }])).is).toBe('ready');
    const other = { ...DEVICE, device: 'y' };
    expect(bindingStateOf(aClaim([{ type: 'Ready', status: 'True' }], [DEVICE, other])).is).toBe('waiting');
  });

  it('has failed as soon as its driver says so, in the genuine words', () => {
    const failed = { type: 'Failed', status: 'True', reason: 'Broken', message: 'no "link"' };
    expect(bindingStateOf(aClaim([failed, { type: 'Ready', status: 'True' }]))).toEqual({
      is: 'failed',
      why: 'claim=c, reason=Broken, message="no \\"link\\""',
    });
  });

  it('is overdue once its time is over, counted from its allocation', () => {
    const allocatedMs = Date.parse('2026-01-01T00:00:00Z');
    expect(isBindingOverdue(aClaim(), allocatedMs + 600_000, 600_000)).toBe(false);
    expect(isBindingOverdue(aClaim(), allocatedMs + 600_001, 600_000)).toBe(true);
  });

  it('is one with conditions: any other is ready at once, and never overdue', () => {
    const plain = aClaim([], [{ request: 'r', ...IDS }]);
    expect(hasBindingConditions(plain)).toBe(false);
    expect(bindingStateOf(plain).is).toBe('ready');
    expect(isBindingOverdue(plain, Infinity, 1)).toBe(false);
  });
});

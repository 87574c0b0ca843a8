import { describe, expect, it } from 'vitest';
import type { Pod } from '../../runtime/index.js';
import type { ResourceClaim, ResourceSlice } from '../../machinery/kubernetes/index.js';
import { decideDeviceEviction } from './device-taint-eviction.js';

const NOW = Date.UTC(2026, 0, 1, 0, 1);
const ADDED = '2026-01-01T00:00:00Z';
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'a', uid: 'u' },
  spec: { nodeName: 'node-0', containers: [] },
};
const aClaim = (tolerations: object[] = [], uid = 'u'): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'gpu', namespace: 'a' },
  spec: {},
  status: {
    reservedFor: [{ resource: 'pods', name: 'web', uid }],
    allocation: {
      devices: { results: [{ request: 'gpu', driver: 'd', pool: 'p', device: 'gpu-0', tolerations }] },
    },
  },
});
const aSlice = (effect: string, device = 'gpu-0', generation = 1): ResourceSlice => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: `slice-${generation}` },
  spec: {
    driver: 'd',
    pool: { name: 'p', generation, resourceSliceCount: 1 },
    devices: [{ name: device, taints: [{ key: 'broken', effect: effect as 'NoExecute', timeAdded: ADDED }] }],
  },
});
const due = (claim: ResourceClaim, ...slices: ResourceSlice[]) =>
  decideDeviceEviction(POD, [claim], slices, NOW);

describe('a pod whose device is tainted', () => {
  it('goes at once, unless it tolerates it, for a time or for ever', () => {
    expect(due(aClaim(), aSlice('NoExecute'))).toBe(Date.parse(ADDED));
    const tolerates = { key: 'broken', operator: 'Exists' };
    expect(due(aClaim([tolerates]), aSlice('NoExecute'))).toBeUndefined();
    expect(due(aClaim([{ ...tolerates, tolerationSeconds: 90 }]), aSlice('NoExecute'))).toBe(
      Date.parse(ADDED) + 90_000,
    );
  });

  it('goes when the tolerated time is over, although the taint does not say since when it is there', () => {
    const slice = aSlice('NoExecute');
    for (const taint of slice.spec.devices?.[0]?.taints ?? []) delete taint.timeAdded;
    slice.metadata.creationTimestamp = ADDED;
    const claim = aClaim([{ key: 'broken', operator: 'Exists', tolerationSeconds: 90 }]);
    const dueMs = Date.parse(ADDED) + 90_000;
    expect(due(claim, slice)).toBe(dueMs);
    expect(decideDeviceEviction(POD, [claim], [slice], dueMs)).toBe(dueMs);
  });

  it.each<[string, ResourceClaim, ResourceSlice[]]>([
    ['the taint lets pods be', aClaim(), [aSlice('NoSchedule')]],
    ['it is another device', aClaim(), [aSlice('NoExecute', 'gpu-1')]],
    ['the slice is outdated', aClaim(), [aSlice('NoExecute'), aSlice('NoSchedule', 'gpu-0', 2)]],
    ['the claim is another pod’s', aClaim([], 'other'), [aSlice('NoExecute')]],
  ])('stays where %s', (_why, claim, slices) => {
    expect(due(claim, ...slices)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '../../machinery/kubernetes/index.js';
import {
  DELETE_PROTECTION,
  POD_CLAIM_NAME,
  claimNamesOfPod,
  claimsOfPod,
  claimsToReserve,
  decidePodClaim,
  decideUpkeep,
  hasClaims,
} from './decide-claims.js';
import { podOf } from '../../testing/pod-builder.js';

const claimingPod = (more: Partial<Pod['spec']> = {}, status: Pod['status'] = {}, name = 'web'): Pod =>
  podOf({
    metadata: { name, namespace: 'a', uid: `uid-${name}` },
    spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }], ...more },
    status,
  });
const OWNED = [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web', controller: true }];
const aClaim = (
  metadata: Partial<ResourceClaim['metadata']> = {},
  status: ResourceClaim['status'] = {},
): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'web-gpu-x', namespace: 'a', ...metadata },
  spec: {},
  status,
});
const TEMPLATE: ResourceClaimTemplate = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: { name: 'one-gpu', namespace: 'a' },
  spec: { metadata: { labels: { team: 'ml' } }, spec: { devices: { requests: [{ name: 'gpu' }] } } },
};
const GPU = { name: 'gpu', resourceClaimTemplateName: 'one-gpu' };
const decided = (
  pod: Pod,
  entry: Parameters<typeof decidePodClaim>[1],
  claims: readonly ResourceClaim[],
  template: ResourceClaimTemplate | undefined,
) => decidePodClaim(pod, entry, claimsOfPod(pod, claims), template);
const consumer = (name: string) => ({ resource: 'pods', name, uid: `uid-${name}` });

describe('a claim of a pod’s template', () => {
  it('is made once, with the pod as its owner, and the name that it has there', () => {
    expect(decided(claimingPod(), GPU, [], TEMPLATE)).toMatchObject({
      action: 'create',
      claim: {
        metadata: {
          generateName: 'web-gpu-',
          namespace: 'a',
          labels: { team: 'ml' },
          annotations: { [POD_CLAIM_NAME]: 'gpu' },
          ownerReferences: [{ kind: 'Pod', name: 'web', uid: 'uid-web', controller: true }],
        },
        spec: { devices: { requests: [{ name: 'gpu' }] } },
      },
    });
  });

  it('is recorded where it was made without that, and made again where it is gone', () => {
    const made = aClaim({ annotations: { [POD_CLAIM_NAME]: 'gpu' }, ownerReferences: OWNED });
    expect(decided(claimingPod(), GPU, [made], TEMPLATE)).toEqual({
      action: 'record',
      claimName: 'web-gpu-x',
    });
    const known = claimingPod(
      {},
      { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'web-gpu-x' }] },
    );
    expect(decided(known, GPU, [made], TEMPLATE)).toEqual({ action: 'nothing' });
    expect(decided(known, GPU, [], TEMPLATE).action).toBe('create');
  });

  it('is not another pod’s, and not one that the pod names itself', () => {
    const foreign = aClaim({ annotations: { [POD_CLAIM_NAME]: 'gpu' } });
    expect(decided(claimingPod(), GPU, [foreign], TEMPLATE).action).toBe('create');
    expect(decided(claimingPod(), { name: 'gpu', resourceClaimName: 'mine' }, [], undefined).action).toBe(
      'nothing',
    );
  });

  it('cannot be made without its template, and says so', () => {
    expect(decided(claimingPod(), GPU, [], undefined)).toEqual({
      action: 'wait',
      why: 'resource claim template "one-gpu": resourceclaimtemplate.resource.k8s.io "one-gpu" not found',
    });
  });

  it('has a name that leaves room for five characters', () => {
    const step = decided(claimingPod({}, {}, 'p'.repeat(60)), GPU, [], TEMPLATE);
    expect(step.action === 'create' && step.claim.metadata.generateName?.length).toBeLessThanOrEqual(57);
  });
});

describe('the consumers of a claim', () => {
  const allocated = { allocation: {}, reservedFor: [consumer('web')] };
  const keep = (claim: ResourceClaim, pods: readonly Pod[]) =>
    decideUpkeep(claim, (name) => pods.find(({ metadata }) => metadata.name === name));
  const PROTECTED = { finalizers: [DELETE_PROTECTION] };

  it('are left as they are while their pods run', () => {
    expect(keep(aClaim(PROTECTED, allocated), [claimingPod()])).toBeUndefined();
  });

  it.each<[string, Pod[]]>([
    ['is gone', []],
    ['has ended', [claimingPod({}, { phase: 'Succeeded' })]],
    ['has been replaced', [{ ...claimingPod(), metadata: { name: 'web', namespace: 'a', uid: 'other' } }]],
  ])('lose a pod that %s, and the devices are given back with the last', (_why, pods) => {
    expect(keep(aClaim(PROTECTED, allocated), pods)).toMatchObject({
      reservedFor: [],
      isDeallocated: true,
      isReleased: true,
    });
    const shared = { ...allocated, reservedFor: [consumer('web'), consumer('other')] };
    expect(keep(aClaim(PROTECTED, shared), [...pods, claimingPod({}, {}, 'other')])).toMatchObject({
      reservedFor: [consumer('other')],
      isDeallocated: false,
      isReleased: false,
    });
  });

  it('are no reason to give devices back where there were none', () => {
    expect(keep(aClaim(PROTECTED, { allocation: {} }), [])).toBeUndefined();
    const going = { ...PROTECTED, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(keep(aClaim(going, { allocation: {} }), [])).toMatchObject({
      isDeallocated: true,
      isReleased: true,
    });
  });

  it('go with the end of the pod that they were made for', () => {
    const ended = claimingPod({}, { phase: 'Failed' });
    expect(keep(aClaim({ ownerReferences: OWNED }), [ended])).toMatchObject({ isDeleted: true });
    expect(keep(aClaim({ ownerReferences: OWNED }), [claimingPod()])).toBeUndefined();
  });

  it('include a pod that came to its node without a scheduler', () => {
    const pod = claimingPod({
      nodeName: 'node-0',
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'web-gpu-x' }],
    });
    expect(claimsToReserve(pod, [aClaim({}, { allocation: {} })])).toHaveLength(1);
    expect(claimsToReserve(pod, [aClaim({}, allocated)])).toEqual([]);
    expect(claimsToReserve(pod, [aClaim()])).toEqual([]);
    expect(
      claimsToReserve(claimingPod({ resourceClaims: pod.spec.resourceClaims }), [
        aClaim({}, { allocation: {} }),
      ]),
    ).toEqual([]);
  });

  it('are looked after too where the scheduler made the claim, of the pod’s extended resources', () => {
    const plain = claimingPod({ resourceClaims: undefined });
    expect(hasClaims(plain)).toBe(false);
    const served = {
      ...plain,
      status: { extendedResourceClaimStatus: { resourceClaimName: 'web-extended', requestMappings: [] } },
    };
    expect(hasClaims(served)).toBe(true);
    expect(claimNamesOfPod(served)).toEqual(['web-extended']);
  });
});

it('looks at each recorded claim of a pod once, however many the pod has', () => {
  let looks = 0;
  const names = Array.from({ length: 1000 }, (_, index) => `c${index}`);
  const recorded = names.map((name) => ({
    get name() {
      looks++;
      return name;
    },
    resourceClaimName: `made-${name}`,
  }));
  const pod = claimingPod(
    { resourceClaims: names.map((name) => ({ name, resourceClaimTemplateName: 'one-gpu' })) },
    { resourceClaimStatuses: recorded },
  );
  expect(claimNamesOfPod(pod)).toHaveLength(names.length);
  const known = claimsOfPod(pod, []);
  for (const entry of pod.spec.resourceClaims ?? []) decidePodClaim(pod, entry, known, TEMPLATE);
  expect(looks).toBe(2 * names.length);
});

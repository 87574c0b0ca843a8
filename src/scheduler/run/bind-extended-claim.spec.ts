import type { ApiClient } from '@rollkeeper/runtime';
import { FakeClock } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { viewOf } from '../decide/random-world.fixture.js';
import type { ReadablePod } from '../framework/node-info.js';
import { allocatedDevices } from '../plugins/dynamic-resources/allocated-devices.js';
import type { ResourceClaim } from '../plugins/dynamic-resources/resource-api.js';
import { AssumedObjects } from './assumed-objects.js';
import { ExtendedClaims } from './bind-extended-claim.js';

const CLAIMS: ResourceType = {
  group: 'resource.k8s.io',
  version: 'v1',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
};
const signal = new AbortController().signal;
const POD = { metadata: { name: 'web', namespace: 'a', uid: 'u' } } as unknown as ReadablePod;
const device = { request: 'r', driver: 'd', pool: 'p', device: 'gpu-0' };
const WANTED = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: '<extended-resources>', generateName: 'web-extended-resources-', namespace: 'a' },
  spec: { devices: { requests: [{ name: 'r' }] } },
  status: { allocation: { devices: { results: [device] } }, reservedFor: [] },
} as ResourceClaim;
const MAPPINGS = [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'r' }];

/** Creates, and notes what it is asked. */
function setUp({ refuses }: { readonly refuses?: 'create' | 'patch' } = {}) {
  const calls: string[] = [];
  const counted: string[] = [];
  const note = (verb: 'create' | 'update' | 'patch' | 'delete', what: string): Promise<void> => {
    calls.push(`${verb} ${what}`);
    return verb === refuses ? Promise.reject(new Error('no')) : Promise.resolve();
  };
  const client = {
    async create(_type: unknown, object: KubernetesObject) {
      await note('create', object.metadata.generateName ?? '');
      return { ...object, metadata: { ...object.metadata, name: 'made', uid: 'm', resourceVersion: '1' } };
    },
    async update(_type: unknown, object: KubernetesObject, { subresource = '' } = {}) {
      await note('update', `${object.metadata.name} ${subresource}`.trim());
      return object;
    },
    async patch(type: ResourceType, ref: { name: string }, { body }: { body: unknown }) {
      await note('patch', `${type.resource}/${ref.name} ${JSON.stringify(body)}`);
    },
    async delete(_type: unknown, { name }: { name: string }) {
      await note('delete', name);
    },
  } as unknown as ApiClient;
  const assumed = new AssumedObjects(viewOf({}), new FakeClock());
  const claims = new ExtendedClaims({
    ...{ client, claims: CLAIMS, assumed, logger: silentLogger },
    metrics: { claimCreated: (status) => void counted.push(status) },
  });
  const isTaken = (): boolean => allocatedDevices(assumed).whole.size > 0;
  return { calls, claims, counted, isTaken };
}

describe('the claim of a pod’s extended resources', () => {
  it('takes its devices with the decision, is written before the binding, and named in the pod', async () => {
    const { calls, claims, counted, isTaken } = setUp();
    const reserved = claims.take(WANTED, MAPPINGS);
    expect(isTaken()).toBe(true);
    await claims.bind(POD, reserved, signal);
    const said = { resourceClaimName: 'made', requestMappings: MAPPINGS };
    expect(calls).toEqual([
      'create web-extended-resources-',
      'update made',
      'update made status',
      `patch pods/web ${JSON.stringify({ metadata: { uid: 'u' }, status: { extendedResourceClaimStatus: said } })}`,
    ]);
    expect(counted).toEqual(['success']);
    expect(isTaken()).toBe(true);
  });

  it('gives its devices back at once where it was not created yet', async () => {
    const { calls, claims, isTaken } = setUp();
    claims.giveBack(claims.take(WANTED, MAPPINGS));
    await claims.idle();
    expect(isTaken()).toBe(false);
    expect(calls).toEqual([]);
  });

  it('is deleted with its finalizer where the pod is not bound, and keeps its devices until then', async () => {
    const { calls, claims, isTaken } = setUp();
    const reserved = claims.take(WANTED, MAPPINGS);
    await claims.bind(POD, reserved, signal);
    calls.length = 0;
    claims.giveBack(reserved);
    expect(isTaken()).toBe(true);
    await claims.idle();
    expect(calls).toEqual([
      `patch resourceclaims/made ${JSON.stringify({ metadata: { uid: 'm', finalizers: [] } })}`,
      'delete made',
    ]);
    expect(isTaken()).toBe(false);
  });

  it('counts what was refused', async () => {
    const { claims, counted } = setUp({ refuses: 'create' });
    await expect(claims.bind(POD, claims.take(WANTED, MAPPINGS), signal)).rejects.toThrow('no');
    expect(counted).toEqual(['failure']);
  });

  it('leaves a claim that cannot be deleted to the next attempt', async () => {
    const { claims } = setUp({ refuses: 'patch' });
    const reserved = claims.take(WANTED, MAPPINGS);
    await expect(claims.bind(POD, reserved, signal)).rejects.toThrow('no');
    claims.giveBack(reserved);
    await expect(claims.idle()).resolves.toBeUndefined();
  });
});

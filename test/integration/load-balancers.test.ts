import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Service } from '../../src/runtime/index.js';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 0, controllers: 'service-lb-controller' });
});
afterAll(() => cluster.stop());

const service = (name: string, spec: object = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
});
const get = async (name: string) => {
  await cluster.settled(PATIENT);
  return cluster.get<Service>(`svc/${name}`);
};
const addressesOf = async (name: string) =>
  (await get(name))?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);
const reasonsOf = async (name: string) => {
  await cluster.settled(PATIENT);
  const events = await cluster.list<{ reason: string } & Service>('events', {
    fieldSelector: `involvedObject.name=${name}`,
  });
  return events.map(({ reason }) => reason);
};

describe('a Service of type LoadBalancer', () => {
  it('gets an address of its own that leads nowhere', async () => {
    await cluster.apply([service('web'), service('api')]);
    const given = await get('web');
    expect(given?.metadata.finalizers).toEqual([FINALIZER]);
    expect(given?.status?.loadBalancer).toEqual({ ingress: [{ ip: expect.any(String), ipMode: 'VIP' }] });
    const all = [await addressesOf('web'), await addressesOf('api')].flat();
    expect(all.sort()).toEqual(['198.51.100.1', '198.51.100.2']);
    expect(await reasonsOf('web')).toEqual(['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);
  });

  it('keeps it while its ports change', async () => {
    const before = await addressesOf('web');
    await cluster.patch('svc/web', { spec: { ports: [{ port: 8080 }] } });
    expect(await addressesOf('web')).toEqual(before);
  });

  it('gives it back when it becomes another type, and somebody else gets it', async () => {
    const before = await addressesOf('web');
    await cluster.patch('svc/web', { spec: { type: 'ClusterIP' } });
    const changed = await get('web');
    expect(changed?.metadata.finalizers ?? []).toEqual([]);
    expect(changed?.status?.loadBalancer).toEqual({});
    expect(await reasonsOf('web')).toEqual(
      expect.arrayContaining(['DeletingLoadBalancer', 'DeletedLoadBalancer']),
    );
    await cluster.apply(service('next'));
    expect(await addressesOf('next')).toEqual(before);
  });

  it('goes when it is deleted, finalizer and all', async () => {
    await cluster.delete('svc/next');
    expect(await get('next')).toBeUndefined();
  });

  it('is left alone when it names the class of somebody else', async () => {
    await cluster.apply(service('other', { loadBalancerClass: 'example.com/lb' }));
    const other = await get('other');
    expect([other?.metadata.finalizers ?? [], other?.status?.loadBalancer ?? {}]).toEqual([[], {}]);
  });

  it('gets the address that it asks for, unless somebody has it', async () => {
    await cluster.apply([service('asks', { loadBalancerIP: '203.0.113.7' })]);
    expect(await addressesOf('asks')).toEqual(['203.0.113.7']);
    await cluster.apply([service('late', { loadBalancerIP: '203.0.113.7' })]);
    expect(await addressesOf('late')).toBeUndefined();
    expect(await reasonsOf('late')).toContain('SyncLoadBalancerFailed');
  });

  it('gets one of each family that it has', async () => {
    await cluster.apply(
      service('dual', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] }),
    );
    expect(await addressesOf('dual')).toEqual([expect.stringMatching(/^198\.51\.100\./), '2001:db8::1']);
  });
});

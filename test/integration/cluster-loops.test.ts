import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };
const BEHAVIOUR = 'node.rollkeeper.dev/behaviour';

interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [field: string]: any;
}

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 2, clock: 'manual' });
});
afterAll(() => cluster.stop());

const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'nginx:1.27' }], ...spec },
});
const find = (name: string) => cluster.get<Loose>(name);
const reasons = async (kind: string, name: string): Promise<readonly string[]> =>
  (await cluster.list<Loose>('events'))
    .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
    .map(({ reason }) => reason as string);

describe('a pod with a template of a ResourceClaim', () => {
  it('gets a claim of its own, runs on the node with the device, and gives it back at its end', async () => {
    await cluster.apply([
      { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} },
      {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceSlice',
        metadata: { name: 'gpus' },
        spec: {
          driver: 'gpu.example.com',
          nodeName: 'node-1',
          pool: { name: 'node-1', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'gpu-0' }],
        },
      },
      {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaimTemplate',
        metadata: { name: 'one-gpu', namespace: 'default' },
        spec: { spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } } },
      },
      pod('trainer', {
        restartPolicy: 'Never',
        resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }],
      }),
    ]);
    await cluster.waitFor('default/pod/trainer', 'condition=Ready', PATIENT);
    const trainer = await find('default/pod/trainer');
    const [{ resourceClaimName }] = trainer?.['status'].resourceClaimStatuses ?? [{}];
    expect(resourceClaimName).toMatch(/^trainer-gpu-/);
    expect(trainer?.['spec'].nodeName).toBe('node-1');
    expect((await find(`default/resourceclaim/${resourceClaimName}`))?.['status']).toMatchObject({
      allocation: { devices: { results: [{ device: 'gpu-0' }] } },
      reservedFor: [{ name: 'trainer' }],
    });
    await cluster.clock.advance(2_000);
    await cluster.waitFor(`default/resourceclaim/${resourceClaimName}`, 'delete', PATIENT);
    expect((await find('default/pod/trainer'))?.['status'].phase).toBe('Succeeded');
  });

  it('is evicted when its device is tainted', async () => {
    await cluster.apply([
      pod('server', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }] }),
    ]);
    await cluster.waitFor('default/pod/server', 'condition=Ready', PATIENT);
    const taints = [{ key: 'broken', effect: 'NoExecute' }];
    await cluster.patch('resourceslice/gpus', { spec: { devices: [{ name: 'gpu-0', taints }] } });
    await cluster.waitFor('default/pod/server', 'delete', PATIENT);
    await cluster.settled(PATIENT);
    expect(await reasons('Pod', 'server')).toContain('DeviceTaintManagerEviction');
    expect(await cluster.list('resourceclaims')).toEqual([]);
  });

  it('says what it waits for', async () => {
    await cluster.apply([
      pod('lost', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'missing' }] }),
    ]);
    await cluster.settled(PATIENT);
    expect(await reasons('Pod', 'lost')).toContain('FailedResourceClaimCreation');
    await cluster.delete('default/pod/lost', { gracePeriodSeconds: 0 });
  });
});

describe('a pod that asks for an extended resource which devices serve', () => {
  const asks = (resources: object) => ({
    containers: [
      { name: 'main', image: 'nginx:1.27', resources: { requests: resources, limits: resources } },
    ],
  });
  const NIC = 'deviceclass.resource.kubernetes.io/nic';

  beforeAll(async () => {
    const pool = { name: 'nics', generation: 1, resourceSliceCount: 1 };
    await cluster.apply([
      {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: 'nic' },
        spec: { extendedResourceName: 'example.com/nic' },
      },
      {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceSlice',
        metadata: { name: 'nics' },
        spec: { driver: 'nic.example.com', nodeName: 'node-1', pool, devices: [{ name: 'nic-0' }] },
      },
    ]);
  });

  it('gets a claim that the scheduler makes, and that says which request serves which container', async () => {
    await cluster.apply(pod('fast', asks({ 'example.com/nic': '1' })));
    await cluster.waitFor('default/pod/fast', 'condition=Ready', PATIENT);
    const fast = await find('default/pod/fast');
    expect(fast?.['spec'].nodeName).toBe('node-1');
    const { requestMappings, resourceClaimName } = fast?.['status'].extendedResourceClaimStatus ?? {};
    expect(resourceClaimName).toMatch(/^fast-extended-resources-/);
    expect(requestMappings).toEqual([
      { containerName: 'main', resourceName: 'example.com/nic', requestName: 'container-0-request-0' },
    ]);
    const claim = await find(`default/resourceclaim/${resourceClaimName}`);
    expect(claim?.metadata.annotations).toEqual({ 'resource.kubernetes.io/extended-resource-claim': 'true' });
    expect(claim?.['status']).toMatchObject({
      allocation: { devices: { results: [{ request: 'container-0-request-0', device: 'nic-0' }] } },
      reservedFor: [{ name: 'fast' }],
    });
  });

  it('waits while another has the device, and gets it by the class’s own name once that has gone', async () => {
    await cluster.apply(pod('second', asks({ [NIC]: '1' })));
    await cluster.settled(PATIENT);
    const [condition] = (await find('default/pod/second'))?.['status'].conditions ?? [];
    expect(condition.message).toContain('2 cannot allocate all claims. still not schedulable');
    await cluster.delete('default/pod/fast', { gracePeriodSeconds: 0 });
    await cluster.waitFor('default/pod/second', 'condition=Ready', PATIENT);
    expect((await cluster.list('resourceclaims')).map(({ metadata }) => metadata.name)).toEqual([
      expect.stringMatching(/^second-extended-resources-/),
    ]);
    await cluster.delete('default/pod/second', { gracePeriodSeconds: 0 });
  });
});

describe('a pod whose device has to be prepared', () => {
  const READY = 'example.com/ready';
  const FAILED = 'example.com/failed';
  const pool = { name: 'fabric', generation: 1, resourceSliceCount: 1 };
  const device = { bindingConditions: [READY], bindingFailureConditions: [FAILED] };

  beforeAll(async () => {
    await cluster.apply([
      { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'fabric' }, spec: {} },
      {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceSlice',
        metadata: { name: 'fabric' },
        spec: {
          ...{ driver: 'fabric.example.com', allNodes: true, pool },
          devices: [{ name: 'f-0', ...device, bindsToNode: true }],
        },
      },
      {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: { name: 'fabric', namespace: 'default' },
        spec: {
          devices: {
            requests: [
              {
                name: 'f',
                exactly: {
                  deviceClassName: 'fabric',
                  selectors: [{ cel: { expression: 'device.driver == "fabric.example.com"' } }],
                },
              },
            ],
          },
        },
      },
    ]);
  });

  const allocation = async () =>
    (await find('default/resourceclaim/fabric'))?.['status']?.allocation as Loose | undefined;
  const report = async (type: string): Promise<void> => {
    const condition = {
      type,
      status: 'True',
      reason: 'Told',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const { results = [] } = (await allocation())?.['devices'] ?? {};
    const devices = results.map(({ device: name, driver, pool: from }: Loose) => ({
      ...{ device: name, driver, pool: from, conditions: [condition] },
    }));
    await cluster.patch('default/resourceclaim/fabric', { status: { devices } }, { subresource: 'status' });
  };

  it('waits until its driver has, on a node that others may not take the device to', async () => {
    await cluster.apply(pod('waiter', { resourceClaims: [{ name: 'f', resourceClaimName: 'fabric' }] }));
    await waitFor(async () => (await reasons('Pod', 'waiter')).includes('BindingConditionsPending'), {
      what: 'the scheduler to wait',
    });
    const waiting = await find('default/pod/waiter');
    expect(waiting?.['spec'].nodeName).toBeUndefined();
    const given = await allocation();
    expect(given?.['allocationTimestamp']).toMatch(/^\d{4}-/);
    expect(given?.['nodeSelector'].nodeSelectorTerms).toEqual([
      { matchFields: [expect.objectContaining({ key: 'metadata.name' })] },
    ]);
    await report(READY);
    await cluster.waitFor('default/pod/waiter', 'condition=Ready', PATIENT);
    await cluster.delete('default/pod/waiter', { gracePeriodSeconds: 0 });
    await waitFor(async () => (await allocation()) === undefined, { what: 'the device to be given back' });
  });

  it('is given devices again where its driver cannot', async () => {
    await cluster.apply(pod('retried', { resourceClaims: [{ name: 'f', resourceClaimName: 'fabric' }] }));
    await waitFor(async () => (await allocation()) !== undefined, { what: 'the device to be allocated' });
    await report(FAILED);
    await waitFor(
      async () => {
        await cluster.clock.advance(11_000);
        const status = (await find('default/resourceclaim/fabric'))?.['status'] as Loose | undefined;
        return status?.['allocation'] !== undefined && status['devices'] === undefined;
      },
      { what: 'devices anew' },
    );
    await report(READY);
    await cluster.waitFor('default/pod/retried', 'condition=Ready', PATIENT);
    await cluster.delete('default/pod/retried', { gracePeriodSeconds: 0 });
  });
});

describe('a volume that is attached', () => {
  beforeAll(async () => {
    await cluster.apply([
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'attached' },
        provisioner: 'simulator.rollkeeper.dev/volumes',
        parameters: { attach: 'true' },
        allowVolumeExpansion: true,
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data', namespace: 'default' },
        spec: {
          storageClassName: 'attached',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      },
    ]);
  });
  const using = (nodeName: string) => ({
    nodeName,
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  });
  const volumesAttached = async (node: string): Promise<number> =>
    ((await find(`node/${node}`))?.['status'].volumesAttached ?? []).length;

  it('is at the node of its pod, refused to another one, and moves when the pod is gone', async () => {
    await cluster.waitFor<Loose>(
      'default/persistentvolumeclaim/data',
      (claim) => claim?.['status']?.phase === 'Bound',
      PATIENT,
    );
    await cluster.apply([pod('first', using('node-0'))]);
    await cluster.waitFor<Loose>(
      'node/node-0',
      (node) => node?.['status'].volumesAttached?.length === 1,
      PATIENT,
    );
    await cluster.apply([pod('second', using('node-1'))]);
    await cluster.settled(PATIENT);
    expect(await volumesAttached('node-1')).toBe(0);
    expect(await reasons('Pod', 'first')).toContain('SuccessfulAttachVolume');
    expect(await reasons('Pod', 'second')).toContain('FailedAttachVolume');
    await cluster.delete('default/pod/first', { gracePeriodSeconds: 0 });
    await cluster.waitFor<Loose>(
      'node/node-1',
      (node) => node?.['status'].volumesAttached?.length === 1,
      PATIENT,
    );
    await cluster.settled(PATIENT);
    expect(await volumesAttached('node-0')).toBe(0);
    expect(await cluster.list('volumeattachments')).toHaveLength(1);
  });

  it('grows by its driver, which the expander waits for', async () => {
    const requests = { storage: '2Gi' };
    await cluster.patch('default/persistentvolumeclaim/data', { spec: { resources: { requests } } });
    await cluster.waitFor<Loose>(
      'default/persistentvolumeclaim/data',
      (claim) => claim?.['status']?.capacity?.storage === '2Gi',
      PATIENT,
    );
    await cluster.settled(PATIENT);
    const told = await reasons('PersistentVolumeClaim', 'data');
    expect(told).toEqual(expect.arrayContaining(['ExternalExpanding', 'Resizing', 'VolumeResizeSuccessful']));
  });

  it('keeps the class of its attributes until it names it no more', async () => {
    const attributes = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttributesClass',
      metadata: { name: 'gold' },
      driverName: 'simulator.rollkeeper.dev',
      parameters: { speed: 'high' },
    };
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'fast', namespace: 'default' },
      spec: {
        storageClassName: 'attached',
        volumeAttributesClassName: 'gold',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    };
    await cluster.apply([attributes, claim]);
    await cluster.waitFor(
      'volumeattributesclass/gold',
      (object) => object?.metadata.finalizers?.includes('kubernetes.io/vac-protection') === true,
      PATIENT,
    );
    await cluster.delete('volumeattributesclass/gold');
    await cluster.settled(PATIENT);
    expect(await find('volumeattributesclass/gold')).toBeDefined();
    await cluster.delete('default/persistentvolumeclaim/fast');
    await cluster.waitFor('volumeattributesclass/gold', 'delete', PATIENT);
  });
});

describe('networks', () => {
  it('are given to a node that comes without one', async () => {
    await cluster.apply([{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'by-hand' } }]);
    await cluster.waitFor<Loose>(
      'node/by-hand',
      (node) => node?.['spec']?.podCIDR === '10.255.192.0/18',
      PATIENT,
    );
    await cluster.delete('node/by-hand');
  });

  it('are ready for Services, and stay while an address is in one alone', async () => {
    await cluster.apply([
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name: 'extra' },
        spec: { cidrs: ['192.168.77.0/24'] },
      },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'IPAddress',
        metadata: {
          name: '192.168.77.9',
          labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' },
        },
        spec: { parentRef: { resource: 'services', name: 'web', namespace: 'default' } },
      },
    ]);
    await cluster.waitFor('servicecidr/extra', 'condition=Ready', PATIENT);
    await cluster.delete('servicecidr/extra');
    await cluster.waitFor('servicecidr/extra', 'condition=Ready=False', PATIENT);
    await cluster.delete('ipaddress/192.168.77.9');
    await cluster.settled(PATIENT);
    expect(await find('servicecidr/extra')).toBeDefined();
    await cluster.clock.advance(10_000);
    await cluster.waitFor('servicecidr/extra', 'delete', PATIENT);
  });
});

describe('the simulated cloud', () => {
  const behave = (node: string, behaviour: string | null) =>
    cluster.patch(`node/${node}`, { metadata: { annotations: { [BEHAVIOUR]: behaviour } } });
  const taints = async (node: string): Promise<readonly string[]> =>
    ((await find(`node/${node}`))?.['spec'].taints ?? []).map(({ key }: { key: string }) => key);

  it('makes a node no route while it is told so', async () => {
    await behave('node-0', 'network-unavailable');
    await cluster.waitFor('node/node-0', 'condition=NetworkUnavailable', PATIENT);
    await cluster.settled(PATIENT);
    expect(await taints('node-0')).toContain('node.kubernetes.io/network-unavailable');
    await behave('node-0', null);
    await cluster.waitFor('node/node-0', 'condition=NetworkUnavailable=False', PATIENT);
    await cluster.settled(PATIENT);
    expect(await taints('node-0')).toEqual([]);
  });

  it('says which machine is shut down, until it is back', async () => {
    await behave('node-0', 'shutdown');
    await cluster.settled(PATIENT);
    expect(await taints('node-0')).toContain('node.cloudprovider.kubernetes.io/shutdown');
    await behave('node-0', null);
    await cluster.waitFor('node/node-0', 'condition=Ready', PATIENT);
    await cluster.settled(PATIENT);
    expect(await taints('node-0')).toEqual([]);
  });

  it('has the Node deleted of a machine that is gone', async () => {
    await behave('node-1', 'gone');
    await cluster.settled(PATIENT);
    expect(await find('node/node-1')).toBeDefined();
    await cluster.clock.advance(60_000);
    await cluster.waitFor('node/node-1', 'delete', PATIENT);
    await cluster.clock.advance(30_000);
    await cluster.settled(PATIENT);
    expect(await find('node/node-1')).toBeUndefined();
    expect(await reasons('Node', 'node-1')).toContain('DeletingNode');
  });
});

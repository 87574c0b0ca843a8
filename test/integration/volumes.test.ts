import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };
const CONTROLLERS =
  'persistentvolume-binder,ephemeral-volume,pvc-protection,pv-protection,volume-provisioner,statefulset,garbage-collector,namespace';

interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [field: string]: any;
}

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 2, controllers: CONTROLLERS });
});
afterAll(() => cluster.stop());

const claim = (name: string, spec: object = {}, metadata: object = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});

const volume = (name: string, spec: object = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    nfs: { server: 'nfs.example.com', path: '/' },
    storageClassName: 'manual',
    ...spec,
  },
});

const storageClass = (name: string, more: object): ManifestObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  ...more,
});

const pod = (name: string, claimName: string, spec: object = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    containers: [{ name: 'main', image: 'db' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    ...spec,
  },
});

const get = (name: string) => cluster.get<Loose>(name);
const phaseOf = async (name: string) => (await get(name))?.status?.phase;
const settled = () => cluster.settled(PATIENT);
const apply = async (...manifests: ManifestObject[]) => {
  await cluster.apply(manifests);
  await settled();
};
const notesOn = async (name: string) => {
  await settled();
  const events = await cluster.list<Loose>('events', { fieldSelector: `involvedObject.name=${name}` });
  return events.map(({ reason, message }) => `${reason} ${message}`);
};
const unscheduledBecause = async (name: string) =>
  (await get(`pod/${name}`))?.status?.conditions?.find(({ type }: Loose) => type === 'PodScheduled')?.message;

describe('a claim of the default class', () => {
  it('gets a volume of its size at once, which goes with it', async () => {
    await apply(claim('plain'));
    const plain = await get('pvc/plain');
    expect(plain?.spec.storageClassName).toBe('standard');
    expect(plain?.status).toEqual({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
    });
    expect(plain?.metadata.annotations).toMatchObject({
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
    });
    const name = `pvc-${plain?.metadata.uid}`;
    expect(plain?.spec.volumeName).toBe(name);
    expect(await get(`pv/${name}`)).toMatchObject({
      metadata: { finalizers: ['kubernetes.io/pv-protection'] },
      spec: { persistentVolumeReclaimPolicy: 'Delete', claimRef: { name: 'plain', namespace: 'default' } },
      status: { phase: 'Bound' },
    });
    expect((await notesOn('plain')).map((note) => note.split(' ')[0])).toEqual(
      expect.arrayContaining(['ExternalProvisioning', 'Provisioning', 'ProvisioningSucceeded']),
    );
    await cluster.delete('pvc/plain');
    await settled();
    expect([await get('pvc/plain'), await get(`pv/${name}`)]).toEqual([undefined, undefined]);
  });

  it('grows with its volume, where the class lets it', async () => {
    await apply(claim('grows'));
    await cluster.patch('pvc/grows', { spec: { resources: { requests: { storage: '3Gi' } } } });
    await settled();
    const grown = await get('pvc/grows');
    expect(grown?.status.capacity).toEqual({ storage: '3Gi' });
    expect((await get(`pv/${grown?.spec.volumeName}`))?.spec.capacity).toEqual({ storage: '3Gi' });
    await cluster.patch('sc/standard', { allowVolumeExpansion: false });
    await expect(
      cluster.patch('pvc/grows', { spec: { resources: { requests: { storage: '4Gi' } } } }),
    ).rejects.toThrow('the storageclass that provisions the pvc must support resize');
    await cluster.patch('sc/standard', { allowVolumeExpansion: true });
  });
});

describe('a claim in use', () => {
  it('stays until its pod is gone', async () => {
    await apply(claim('used'), pod('user', 'used'));
    expect(await phaseOf('pod/user')).toBe('Running');
    await cluster.delete('pvc/used');
    await settled();
    const terminating = await get('pvc/used');
    expect(terminating?.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      finalizers: ['kubernetes.io/pvc-protection'],
    });
    await apply(pod('late', 'used'));
    expect(await unscheduledBecause('late')).toBe(
      '0/2 nodes are available: persistentvolumeclaim "used" is being deleted. not found',
    );
    await cluster.delete('pod/user');
    await settled();
    expect(await get('pvc/used')).toBeUndefined();
  });
});

describe('a pod', () => {
  it('waits for a claim that is not there, then for one that is not bound, and starts when it is', async () => {
    await apply(pod('waits', 'later'));
    expect(await phaseOf('pod/waits')).toBe('Pending');
    expect(await unscheduledBecause('waits')).toBe(
      '0/2 nodes are available: persistentvolumeclaim "later" not found. not found',
    );
    await apply(claim('later', { storageClassName: 'manual' }));
    expect(await unscheduledBecause('waits')).toBe(
      '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    );
    expect(await notesOn('waits')).toContainEqual(
      'FailedScheduling 0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    );
    expect(await notesOn('later')).toContainEqual(
      'ProvisioningFailed storageclass.storage.k8s.io "manual" not found',
    );
    await apply(volume('for-later'));
    expect(await phaseOf('pod/waits')).toBe('Running');
    expect((await get('pvc/later'))?.spec.volumeName).toBe('for-later');
  });

  it('chooses the node for a claim that waits for its first consumer', async () => {
    await apply(
      storageClass('late', {
        provisioner: 'simulator.rollkeeper.dev/volumes',
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
      claim('delayed', { storageClassName: 'late' }),
    );
    expect(await phaseOf('pvc/delayed')).toBe('Pending');
    expect(await notesOn('delayed')).toEqual([
      'WaitForFirstConsumer waiting for first consumer to be created before binding',
    ]);
    await apply(pod('first', 'delayed', { nodeSelector: { 'kubernetes.io/hostname': 'node-1' } }));
    expect(await phaseOf('pod/first')).toBe('Running');
    const delayed = await get('pvc/delayed');
    expect(delayed?.metadata.annotations?.['volume.kubernetes.io/selected-node']).toBe('node-1');
    expect(delayed?.status.phase).toBe('Bound');
  });

  it('goes where the volumes are that people have made on nodes', async () => {
    const near = (node: string) => ({
      storageClassName: 'local',
      nfs: null,
      local: { path: '/disk' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
    });
    await apply(
      storageClass('local', {
        provisioner: 'kubernetes.io/no-provisioner',
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
      volume('disk', near('node-1')),
      claim('local', { storageClassName: 'local' }),
      pod('local', 'local'),
    );
    expect((await get('pod/local'))?.spec.nodeName).toBe('node-1');
    expect((await get('pvc/local'))?.spec.volumeName).toBe('disk');
    await apply(pod('elsewhere', 'local', { nodeSelector: { 'kubernetes.io/hostname': 'node-0' } }));
    expect(await unscheduledBecause('elsewhere')).toBe(
      "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    );
  });
});

describe('an ephemeral volume', () => {
  it('has a claim of its pod, which goes with it', async () => {
    const volumeClaimTemplate = { spec: claim('x')['spec'] };
    await apply({
      ...pod('brief', 'x'),
      spec: {
        containers: [{ name: 'main', image: 'db' }],
        volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }],
      },
    });
    expect(await phaseOf('pod/brief')).toBe('Running');
    expect(await phaseOf('pvc/brief-scratch')).toBe('Bound');
    await cluster.delete('pod/brief', { propagationPolicy: 'Foreground' });
    await settled();
    expect([await get('pod/brief'), await get('pvc/brief-scratch')]).toEqual([undefined, undefined]);
  });
});

describe('a volume that people have made', () => {
  it('is the smallest that fits, and is kept when its claim goes', async () => {
    await apply(
      volume('large', { capacity: { storage: '9Gi' }, storageClassName: 'kept' }),
      volume('middle', { capacity: { storage: '5Gi' }, storageClassName: 'kept' }),
      volume('small', { capacity: { storage: '1Gi' }, storageClassName: 'kept' }),
    );
    expect(await phaseOf('pv/middle')).toBe('Available');
    await apply(claim('kept', { storageClassName: 'kept', resources: { requests: { storage: '4Gi' } } }));
    expect((await get('pvc/kept'))?.spec.volumeName).toBe('middle');
    expect((await get('pvc/kept'))?.status.capacity).toEqual({ storage: '5Gi' });
    await cluster.delete('pv/middle');
    await settled();
    expect((await get('pv/middle'))?.metadata.deletionTimestamp).toBeDefined();
    await cluster.delete('pvc/kept');
    await settled();
    expect(await get('pv/middle')).toBeUndefined();
    await apply(claim('kept', { storageClassName: 'kept', volumeName: 'small' }));
    expect(await phaseOf('pvc/kept')).toBe('Bound');
    await cluster.delete('pvc/kept');
    await settled();
    expect(await phaseOf('pv/small')).toBe('Released');
    await cluster.patch('pv/small', { spec: { claimRef: null } });
    await settled();
    expect(await phaseOf('pv/small')).toBe('Available');
  });

  it('is given to the claim that it names, and to no other', async () => {
    await apply(
      volume('mine', {
        storageClassName: 'kept',
        claimRef: { name: 'mine', namespace: 'default' },
        capacity: { storage: '2Gi' },
      }),
      claim('mine', { storageClassName: 'kept' }),
      claim('thief', { storageClassName: 'kept', volumeName: 'mine' }),
    );
    expect((await get('pvc/mine'))?.spec.volumeName).toBe('mine');
    expect(await phaseOf('pvc/thief')).toBe('Pending');
    expect(await notesOn('thief')).toContainEqual(
      'FailedBinding volume "mine" already bound to a different claim.',
    );
  });

  it('is lost to its claim when somebody takes it away by force', async () => {
    await apply(volume('torn', { storageClassName: 'torn' }), claim('torn', { storageClassName: 'torn' }));
    await cluster.patch('pv/torn', { metadata: { finalizers: null } });
    await cluster.delete('pv/torn');
    await settled();
    await cluster.patch('pv/torn', { metadata: { finalizers: null } }).catch(() => undefined);
    await settled();
    expect(await phaseOf('pvc/torn')).toBe('Lost');
    expect(await notesOn('torn')).toContainEqual(
      'ClaimLost Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    );
  });

  it('fails where its policy asks for what nobody can do', async () => {
    await apply(
      volume('doomed', { storageClassName: 'doomed', persistentVolumeReclaimPolicy: 'Delete' }),
      claim('doomed', { storageClassName: 'doomed' }),
    );
    await cluster.delete('pvc/doomed');
    await settled();
    expect((await get('pv/doomed'))?.status).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('no deletable volume plugin matched'),
    });
  });
});

describe('a claim of no class', () => {
  it('takes the default one that comes later', async () => {
    await cluster.delete('sc/standard');
    await apply(claim('early'));
    expect(await notesOn('early')).toEqual([
      'FailedBinding no persistent volumes available for this claim and no storage class is set',
    ]);
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const provisioner = 'simulator.rollkeeper.dev/volumes';
    await apply({
      ...storageClass('standard', { provisioner, allowVolumeExpansion: true }),
      metadata: { name: 'standard', annotations },
    });
    expect(await phaseOf('pvc/early')).toBe('Bound');
    expect((await get('pvc/early'))?.spec.storageClassName).toBe('standard');
  });

  it('gets none of them where it says so', async () => {
    await apply(claim('none', { storageClassName: '' }));
    expect((await get('pvc/none'))?.spec.storageClassName).toBe('');
    expect(await phaseOf('pvc/none')).toBe('Pending');
  });
});

describe('the claims of a StatefulSet', () => {
  const set = (name: string, replicas: number, policy: object): ManifestObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      persistentVolumeClaimRetentionPolicy: policy,
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'db:1' }] },
      },
      volumeClaimTemplates: [claim('data')],
    },
  });
  const claimsOf = async (name: string) =>
    (await cluster.list('pvc', { labelSelector: `app=${name}` })).map(({ metadata }) => metadata.name).sort();

  it('stay when it shrinks and when it goes, unless it says otherwise', async () => {
    await apply(set('keeps', 2, {}));
    expect((await get('sts/keeps'))?.status.readyReplicas).toBe(2);
    await cluster.patch('sts/keeps', { spec: { replicas: 1 } });
    await settled();
    await cluster.delete('sts/keeps');
    await settled();
    expect(await claimsOf('keeps')).toEqual(['data-keeps-0', 'data-keeps-1']);
  });

  it('go with the pods that are too many, and with the set, where it says so', async () => {
    await apply(set('drops', 2, { whenScaled: 'Delete', whenDeleted: 'Delete' }));
    await cluster.patch('sts/drops', { spec: { replicas: 1 } });
    await settled();
    expect(await claimsOf('drops')).toEqual(['data-drops-0']);
    await cluster.delete('sts/drops');
    await settled();
    expect(await claimsOf('drops')).toEqual([]);
    const left = await cluster.list<Loose>('pv');
    expect(left.filter(({ spec }) => spec.claimRef?.name.includes('drops'))).toEqual([]);
  });

  it('are kept by a rollout', async () => {
    await apply(set('rolls', 1, {}));
    const before = (await get('pvc/data-rolls-0'))?.spec.volumeName;
    await cluster.patch('sts/rolls', {
      spec: { template: { spec: { containers: [{ name: 'main', image: 'db:2' }] } } },
    });
    await settled();
    expect((await get('pod/rolls-0'))?.spec.containers[0].image).toBe('db:2');
    expect((await get('pvc/data-rolls-0'))?.spec.volumeName).toBe(before);
  });
});

describe('a namespace', () => {
  it('goes with the claims that its pods use', async () => {
    await apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gone' } },
      claim('data', {}, { namespace: 'gone' }),
      { ...pod('db', 'data'), metadata: { name: 'db', namespace: 'gone' } },
    );
    expect((await get('gone/pod/db'))?.status.phase).toBe('Running');
    await cluster.delete('ns/gone');
    await cluster.waitFor('ns/gone', 'delete', PATIENT);
    expect(await get('gone/pvc/data')).toBeUndefined();
  });
});

import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../../cache/scheduler-cache.js';
import { Attempt } from '../../decide/attempt.js';
import { preFilter } from '../../decide/pre-filter.js';
import { viewOf } from '../../decide/random-world.fixture.js';
import type { ViewedResource } from '../../framework/cluster-view.js';
import { compileProfile } from '../../framework/compile-profile.js';
import type { ReadableNode, ReadablePod } from '../../framework/node-info.js';
import { podInfoOf } from '../../node/pod-info.js';
import { DEFAULT_PLUGINS } from '../../run/default-plugins.js';

type Parts = Readonly<Record<string, unknown>>;

const object = (name: string, { metadata, ...parts }: Parts = {}): KubernetesObject => ({
  ...{ apiVersion: '', kind: '' },
  ...parts,
  metadata: { name, ...(metadata as object | undefined) },
});
const NODE: ReadableNode = {
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name: 'node', labels: { zone: 'a' } },
};
const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes' };
const aClaim = (name: string, spec: Parts, annotations: Record<string, string> = {}, parts: Parts = {}) =>
  object(name, {
    ...parts,
    metadata: { namespace: 'a', uid: name, annotations, ...(parts['metadata'] as object | undefined) },
    spec,
  });
const waiting = (name: string, storage: string, storageClassName = 'wait', annotations = {}) =>
  aClaim(
    name,
    { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    annotations,
  );
const aVolume = (name: string, storage: string, spec: Parts = {}, parts: Parts = {}) =>
  object(name, {
    ...parts,
    spec: { storageClassName: 'wait', accessModes: ['ReadWriteOnce'], capacity: { storage }, ...spec },
    status: { phase: 'Available' },
  });
const aClass = (name: string, parts: Parts = {}) =>
  object(name, {
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...parts,
  });
const podWithVolumes = (name: string, claims: readonly string[], parts: Parts = {}): ReadablePod =>
  object(name, {
    ...parts,
    metadata: { namespace: 'a', uid: name },
    spec: {
      containers: [],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      ...(parts['spec'] as object | undefined),
    },
  }) as unknown as ReadablePod;

type Objects = Partial<Record<ViewedResource, readonly KubernetesObject[]>>;

/** The plug-in's reasons against a pod on the only node, or none. */
function ask(
  plugin: string,
  pod: ReadablePod,
  objects: Objects,
  others: readonly ReadablePod[] = [],
): readonly string[] {
  const view = viewOf(objects);
  const cache = new SchedulerCache();
  cache.setNode(NODE);
  for (const other of others) cache.setPod({ ...other, spec: { ...other.spec, nodeName: 'node' } });
  const plugins = DEFAULT_PLUGINS.filter(({ name }) => name === plugin || name === 'PrioritySort').map(
    ({ create }) => ({ plugin: create(undefined, { view, log: silentLogger }), weight: 0 }),
  );
  const context = { pod: podInfoOf(pod), snapshot: cache.snapshot(), view };
  const attempt = new Attempt({ context, profile: compileProfile({ plugins }), nominated: cache.nominated });
  const { refusal } = preFilter(attempt);
  return (refusal ?? attempt.filter(context.snapshot.get('node')!))?.reasons ?? [];
}

describe('VolumeBinding', () => {
  const NO_MATCH = "node(s) didn't find available persistent volumes to bind";

  it.each<[what: string, claim: KubernetesObject, reason: string]>([
    [
      'is being deleted',
      aClaim('c', {}, BOUND, { metadata: { deletionTimestamp: 'now' } }),
      'persistentvolumeclaim "c" is being deleted',
    ],
    [
      'has lost its volume',
      aClaim('c', { volumeName: 'v' }, {}, { status: { phase: 'Lost' } }),
      'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
    ],
    [
      'names a volume and is not bound yet',
      aClaim('c', { volumeName: 'v', storageClassName: 'wait' }),
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    ['is of no class', aClaim('c', {}), 'pod has unbound immediate PersistentVolumeClaims'],
    [
      'is bound to a volume that is gone',
      aClaim('c', { volumeName: 'v' }, BOUND),
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    ],
  ])('refuses where the claim %s', (_what, claim, reason) => {
    const objects = { persistentvolumeclaims: [claim], 'storage.k8s.io/storageclasses': [aClass('wait')] };
    expect(ask('VolumeBinding', podWithVolumes('p', ['c']), objects)).toEqual([reason]);
  });

  it('waits for the claim of an ephemeral volume, and takes no other for it', () => {
    const spec = { volumes: [{ name: 'scratch', ephemeral: {} }] };
    const pod = podWithVolumes('p', [], { spec });
    expect(ask('VolumeBinding', pod, {})).toEqual([
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"',
    ]);
    expect(ask('VolumeBinding', pod, { persistentvolumeclaims: [aClaim('p-scratch', {}, BOUND)] })).toEqual([
      'PVC a/p-scratch was not created for pod a/p (pod is not owner)',
    ]);
  });

  it('gives each claim a volume of its own, the small ones first', () => {
    const objects = (...sizes: readonly string[]): Objects => ({
      persistentvolumeclaims: [waiting('large', '5Gi'), waiting('small', '1Gi')],
      persistentvolumes: sizes.map((size) => aVolume(`of-${size}`, size)),
      'storage.k8s.io/storageclasses': [aClass('wait')],
    });
    const pod = podWithVolumes('p', ['large', 'small']);
    expect(ask('VolumeBinding', pod, objects('6Gi', '2Gi'))).toEqual([]);
    expect(ask('VolumeBinding', pod, objects('6Gi'))).toEqual([NO_MATCH]);
  });

  it('has what it cannot find made where the class and its topology allow that', () => {
    const made = (parts: Parts) => ({
      persistentvolumeclaims: [waiting('c', '1Gi')],
      'storage.k8s.io/storageclasses': [aClass('wait', { provisioner: 'csi', ...parts })],
    });
    const within = (value: string) => [{ matchLabelExpressions: [{ key: 'zone', values: [value] }] }];
    expect(ask('VolumeBinding', podWithVolumes('p', ['c']), made({}))).toEqual([]);
    expect(
      ask('VolumeBinding', podWithVolumes('p', ['c']), made({ allowedTopologies: within('a') })),
    ).toEqual([]);
    expect(
      ask('VolumeBinding', podWithVolumes('p', ['c']), made({ allowedTopologies: within('b') })),
    ).toEqual([NO_MATCH]);
  });

  it.each<[what: string, capacity: Parts, reasons: readonly string[]]>([
    ['the capacity', { capacity: '5Gi' }, []],
    [
      'the largest volume rather than the capacity',
      { capacity: '5Gi', maximumVolumeSize: '1Gi' },
      ['node(s) did not have enough free storage'],
    ],
    [
      'nothing that is elsewhere',
      { capacity: '5Gi', nodeTopology: { matchLabels: { zone: 'b' } } },
      ['node(s) did not have enough free storage'],
    ],
  ])('counts %s where the driver tells it', (_what, capacity, reasons) => {
    const nodeTopology = { matchLabels: { zone: 'a' } };
    const objects = {
      persistentvolumeclaims: [waiting('c', '2Gi')],
      'storage.k8s.io/storageclasses': [aClass('wait', { provisioner: 'csi' })],
      'storage.k8s.io/csidrivers': [object('csi', { spec: { storageCapacity: true } })],
      'storage.k8s.io/csistoragecapacities': [
        object('c', { storageClassName: 'wait', nodeTopology, ...capacity }),
      ],
    };
    expect(ask('VolumeBinding', podWithVolumes('p', ['c']), objects)).toEqual(reasons);
  });

  it('goes where a volume is being made', () => {
    const on = (node: string) => ({
      persistentvolumeclaims: [waiting('c', '1Gi', 'wait', { 'volume.kubernetes.io/selected-node': node })],
      'storage.k8s.io/storageclasses': [aClass('wait', { provisioner: 'csi' })],
    });
    expect(ask('VolumeBinding', podWithVolumes('p', ['c']), on('node'))).toEqual([]);
    expect(ask('VolumeBinding', podWithVolumes('p', ['c']), on('other'))).toEqual([NO_MATCH]);
  });

  it('tells several obstacles in their order', () => {
    const nodeAffinity = {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }],
      },
    };
    const objects = {
      persistentvolumeclaims: [aClaim('bound', { volumeName: 'v' }, BOUND), waiting('c', '1Gi')],
      persistentvolumes: [aVolume('v', '1Gi', { nodeAffinity, claimRef: { namespace: 'a', name: 'bound' } })],
      'storage.k8s.io/storageclasses': [aClass('wait')],
    };
    expect(ask('VolumeBinding', podWithVolumes('p', ['bound', 'c']), objects)).toEqual([
      "node(s) didn't match PersistentVolume's node affinity",
      NO_MATCH,
    ]);
  });
});

describe('NodeVolumeLimits', () => {
  const csi = (name: string): KubernetesObject =>
    aVolume(name, '1Gi', { csi: { driver: 'csi', volumeHandle: name } });
  const limited = (count: number | undefined, more: Objects = {}): Objects => ({
    persistentvolumeclaims: ['one', 'two', 'three'].map((name) => aClaim(name, { volumeName: name }, BOUND)),
    persistentvolumes: ['one', 'two', 'three'].map(csi),
    'storage.k8s.io/csinodes': [
      object('node', { spec: { drivers: [{ name: 'csi', allocatable: { count } }] } }),
    ],
    ...more,
  });
  const others = [podWithVolumes('other', ['one', 'two'])];

  it.each<[what: string, claims: readonly string[], objects: Objects, isFull: boolean]>([
    ['one volume too many', ['three'], limited(2), true],
    ['as many as may be', ['three'], limited(3), false],
    ['a volume that is attached already', ['two'], limited(2), false],
    ['any number where the driver states no limit', ['three'], limited(undefined), false],
    [
      'what is attached and used by no pod',
      ['three'],
      limited(3, {
        'storage.k8s.io/volumeattachments': [
          object('x', { spec: { nodeName: 'node', source: { persistentVolumeName: 'left' } } }),
        ],
        persistentvolumes: ['one', 'two', 'three', 'left'].map(csi),
      }),
      true,
    ],
    [
      'what is attached elsewhere',
      ['three'],
      limited(3, {
        'storage.k8s.io/volumeattachments': [
          object('x', { spec: { nodeName: 'other', source: { persistentVolumeName: 'left' } } }),
        ],
        persistentvolumes: ['one', 'two', 'three', 'left'].map(csi),
      }),
      false,
    ],
    [
      'volumes that are yet to be made',
      ['new'],
      limited(2, {
        persistentvolumeclaims: [
          aClaim('one', { volumeName: 'one' }, BOUND),
          aClaim('two', { volumeName: 'two' }, BOUND),
          waiting('new', '1Gi'),
        ],
        'storage.k8s.io/storageclasses': [aClass('wait', { provisioner: 'csi' })],
      }),
      true,
    ],
  ])('counts %s', (_what, claims, objects, isFull) => {
    const reasons = ask('NodeVolumeLimits', podWithVolumes('p', claims), objects, others);
    expect(reasons).toEqual(isFull ? ['node(s) exceed max volume count'] : []);
  });
});

describe('VolumeZone', () => {
  it.each<[label: string, value: string, nodeLabels: Record<string, string>, is: boolean]>([
    ['topology.kubernetes.io/zone', 'a', { 'topology.kubernetes.io/zone': 'a' }, true],
    ['topology.kubernetes.io/zone', 'a__b', { 'topology.kubernetes.io/zone': 'b' }, true],
    ['topology.kubernetes.io/zone', 'a', { 'topology.kubernetes.io/zone': 'b' }, false],
    ['failure-domain.beta.kubernetes.io/zone', 'a', { 'topology.kubernetes.io/zone': 'a' }, true],
    ['topology.kubernetes.io/zone', 'a', { 'topology.kubernetes.io/region': 'r' }, false],
    ['topology.kubernetes.io/zone', 'a', {}, true],
  ])('%s %s on a node with %j: %s', (label, value, nodeLabels, is) => {
    const volume = aVolume('v', '1Gi', {}, { metadata: { labels: { [label]: value } } });
    const objects = {
      persistentvolumeclaims: [aClaim('c', { volumeName: 'v' }, BOUND)],
      persistentvolumes: [volume],
    };
    const plugin = DEFAULT_PLUGINS.find(({ name }) => name === 'VolumeZone')!.create(undefined, {
      view: viewOf(objects),
      log: silentLogger,
    });
    const cache = new SchedulerCache();
    cache.setNode({ ...NODE, metadata: { name: 'node', labels: nodeLabels } });
    const context = {
      pod: podInfoOf(podWithVolumes('p', ['c'])),
      snapshot: cache.snapshot(),
      view: viewOf(objects),
    };
    const state = plugin.preFilter!(context).state;
    expect(plugin.filter!(context.snapshot.get('node')!, context, state) === undefined).toBe(is);
  });
});

describe('VolumeRestrictions', () => {
  const disk = (source: Parts) => ({ spec: { volumes: [{ name: 'v', ...source }] } });
  const rbd = (monitors: readonly string[], parts: Parts = {}) => ({
    rbd: { monitors, image: 'i', ...parts },
  });

  it.each<[what: string, one: Parts, other: Parts, isTaken: boolean]>([
    ['a GCE disk', { gcePersistentDisk: { pdName: 'd' } }, { gcePersistentDisk: { pdName: 'd' } }, true],
    [
      'a GCE disk, read-only on both sides',
      { gcePersistentDisk: { pdName: 'd', readOnly: true } },
      { gcePersistentDisk: { pdName: 'd', readOnly: true } },
      false,
    ],
    [
      'an EBS volume, though read-only',
      { awsElasticBlockStore: { volumeID: 'd', readOnly: true } },
      { awsElasticBlockStore: { volumeID: 'd', readOnly: true } },
      true,
    ],
    ['an iSCSI target', { iscsi: { iqn: 'q' } }, { iscsi: { iqn: 'q', readOnly: true } }, true],
    ['an RBD image of one monitor', rbd(['m1', 'm2']), rbd(['m2']), true],
    ['RBD images of different monitors', rbd(['m1']), rbd(['m2']), false],
    ['RBD images of different pools', rbd(['m1'], { pool: 'p' }), rbd(['m1']), false],
  ])('keeps two pods from sharing %s', (_what, one, other, isTaken) => {
    const reasons = ask('VolumeRestrictions', podWithVolumes('p', [], disk(one)), {}, [
      podWithVolumes('x', [], disk(other)),
    ]);
    expect(reasons).toEqual(isTaken ? ['node(s) had no available disk'] : []);
  });

  it('gives a claim for one pod to one pod', () => {
    const objects = { persistentvolumeclaims: [aClaim('c', { accessModes: ['ReadWriteOncePod'] })] };
    expect(ask('VolumeRestrictions', podWithVolumes('p', ['c']), objects)).toEqual([]);
    expect(
      ask('VolumeRestrictions', podWithVolumes('p', ['c']), objects, [podWithVolumes('x', ['c'])]),
    ).toEqual([
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    ]);
    expect(ask('VolumeRestrictions', podWithVolumes('p', ['gone']), objects)).toEqual([
      'persistentvolumeclaim "gone" not found',
    ]);
  });
});

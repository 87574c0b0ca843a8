import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../../cache/scheduler-cache.js';
import { viewOf } from '../../decide/random-world.fixture.js';
import type { ReadablePod } from '../../framework/node-info.js';
import { podInfoOf } from '../../node/pod-info.js';
import { CsiMigration } from './csi-migration.js';
import { nodeVolumeLimits } from './node-volume-limits.js';
import type { Volume } from './pod-claims.js';
import { isPlan, planVolumes } from './plan-volumes.js';

type Labels = Readonly<Record<string, string>>;

const ZONE = 'topology.kubernetes.io/zone';
const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';
const EVERY = ['aws-ebs', 'gce-pd', 'azure-disk', 'cinder', 'portworx-volume', 'vsphere-volume'];

const object = (name: string, parts: object = {}, metadata: object = {}): KubernetesObject => ({
  ...{ apiVersion: '', kind: '', ...parts },
  metadata: { name, ...metadata },
});
const aCsiNode = (plugins: readonly string[], drivers: readonly object[] = []) =>
  object(
    'node',
    { spec: { drivers } },
    {
      annotations: {
        'storage.alpha.kubernetes.io/migrated-plugins': plugins
          .map((plugin) => `kubernetes.io/${plugin}`)
          .join(),
      },
    },
  );
const aVolume = (spec: object, labels: Labels = {}): Volume =>
  object('v', { spec, status: { phase: 'Bound' } }, { labels }) as unknown as Volume;
const everywhere = new CsiMigration(aCsiNode(EVERY));

describe('a volume of a plug-in that a CSI driver has taken over', () => {
  it.each<[driver: string, handle: string, spec: object, labels?: Labels]>([
    ['ebs.csi.aws.com', 'vol-1', { awsElasticBlockStore: { volumeID: 'vol-1' } }],
    ['ebs.csi.aws.com', 'vol-1', { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1' } }],
    ['ebs.csi.aws.com', 'vol-1', { awsElasticBlockStore: { volumeID: 'aws:///vol-1' } }],
    [
      'pd.csi.storage.gke.io',
      'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d',
      { gcePersistentDisk: { pdName: 'd' } },
    ],
    [
      'pd.csi.storage.gke.io',
      'projects/UNSPECIFIED/zones/us-east1-a/disks/d',
      { gcePersistentDisk: { pdName: 'd' } },
      { [BETA_ZONE]: 'us-east1-a' },
    ],
    [
      'pd.csi.storage.gke.io',
      'projects/UNSPECIFIED/regions/us-east1/disks/d',
      { gcePersistentDisk: { pdName: 'd' } },
      { [ZONE]: 'us-east1-a__us-east1-b' },
    ],
    ['disk.csi.azure.com', '/disks/d', { azureDisk: { diskName: 'd', diskURI: '/disks/d' } }],
    ['cinder.csi.openstack.org', 'v', { cinder: { volumeID: 'v' } }],
    ['pxd.portworx.com', 'v', { portworxVolume: { volumeID: 'v' } }],
    ['csi.example.com', 'h', { csi: { driver: 'csi.example.com', volumeHandle: 'h' } }],
  ])('is one of %s: %s', (driver, volumeHandle, spec, labels) => {
    expect(everywhere.sourceOf(aVolume(spec, labels))).toMatchObject({ driver, volumeHandle });
  });

  it('is none where the node’s drivers have not taken over, or nothing can be found by its name', () => {
    const ebs = aVolume({ awsElasticBlockStore: { volumeID: 'vol-1' } });
    expect(new CsiMigration(aCsiNode(['gce-pd'])).sourceOf(ebs)).toBeUndefined();
    expect(new CsiMigration(undefined).sourceOf(ebs)).toBeUndefined();
    expect(everywhere.sourceOf(aVolume({ awsElasticBlockStore: { volumeID: 'aws://a/b/c' } }))).toBe(
      undefined,
    );
    expect(everywhere.sourceOf(aVolume({ vsphereVolume: { volumePath: 'p' } }))).toBeUndefined();
  });

  it.each([
    ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
    ['kubernetes.io/vsphere-volume', undefined],
    ['csi.example.com', 'csi.example.com'],
  ])('counts, if %s will make it, as one of %s', (provisioner, driver) => {
    expect(everywhere.driverOf(provisioner)).toBe(driver);
  });

  it('counts as none if it will be made and no driver has taken over', () => {
    expect(new CsiMigration(undefined).driverOf('kubernetes.io/aws-ebs')).toBeUndefined();
  });
});

describe('the zone of a volume that a CSI driver has taken over', () => {
  const DRIVER_ZONE = 'topology.ebs.csi.aws.com/zone';
  const inZone = (key: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] },
  });
  const ebs = { awsElasticBlockStore: { volumeID: 'vol-1' } };

  it.each<[what: string, volume: Volume, node: Labels, is: boolean]>([
    ['its affinity', aVolume({ ...ebs, nodeAffinity: inZone(ZONE) }), { [DRIVER_ZONE]: 'a' }, true],
    ['its affinity', aVolume({ ...ebs, nodeAffinity: inZone(ZONE) }), { [DRIVER_ZONE]: 'b' }, false],
    ['its affinity alone', aVolume({ ...ebs, nodeAffinity: inZone(ZONE) }), { [ZONE]: 'a' }, false],
    ['a beta affinity', aVolume({ ...ebs, nodeAffinity: inZone(BETA_ZONE) }), { [DRIVER_ZONE]: 'a' }, true],
    ['a label', aVolume(ebs, { [ZONE]: 'a__b' }), { [DRIVER_ZONE]: 'b' }, true],
    ['a label', aVolume(ebs, { [ZONE]: 'a__b' }), { [DRIVER_ZONE]: 'c' }, false],
    ['nothing', aVolume(ebs), {}, true],
    ['an affinity of no driver’s', aVolume({ nodeAffinity: inZone(ZONE) }), { [ZONE]: 'a' }, true],
  ])('is that of the driver’s label, by %s', (_what, volume, labels, is) => {
    const claim = object('c', { spec: { volumeName: 'v' } }, { namespace: 'a' });
    const view = viewOf({
      persistentvolumes: [volume as unknown as KubernetesObject],
      'storage.k8s.io/csinodes': [aCsiNode(EVERY)],
    });
    const node = { ...object('node'), metadata: { name: 'node', labels } };
    const found = planVolumes({ bound: [claim as never], delayed: [] }, node, view);
    expect(isPlan(found)).toBe(is);
  });
});

describe('the limit of a driver', () => {
  it('counts volumes that pods name themselves, and those of claims, as one where they are', () => {
    const ebsOf = (name: string, volumeID: string): ReadablePod =>
      object(
        name,
        { spec: { containers: [], volumes: [{ name: 'v', awsElasticBlockStore: { volumeID } }] } },
        { namespace: 'a', uid: name },
      ) as unknown as ReadablePod;
    const claimed = object(
      'claimed',
      { spec: { containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } },
      { namespace: 'a', uid: 'claimed' },
    ) as unknown as ReadablePod;
    const view = viewOf({
      persistentvolumeclaims: [object('c', { spec: { volumeName: 'v' } }, { namespace: 'a' })],
      persistentvolumes: [
        aVolume({ awsElasticBlockStore: { volumeID: 'vol-1' } }) as unknown as KubernetesObject,
      ],
      'storage.k8s.io/csinodes': [
        aCsiNode(['aws-ebs'], [{ name: 'ebs.csi.aws.com', allocatable: { count: 2 } }]),
      ],
    });
    const cache = new SchedulerCache();
    cache.setNode({ ...object('node'), metadata: { name: 'node' } });
    for (const pod of [claimed, ebsOf('one', 'aws://a/vol-1'), ebsOf('two', 'vol-2')])
      cache.setPod({ ...pod, spec: { ...pod.spec, nodeName: 'node' } });
    const plugin = nodeVolumeLimits(undefined, { view, log: silentLogger });
    const isFull = (pod: ReadablePod): boolean => {
      const context = { pod: podInfoOf(pod), snapshot: cache.snapshot(), view };
      expect(plugin.preFilter!(context).status).toBeUndefined();
      return plugin.filter!(context.snapshot.get('node')!, context, undefined) !== undefined;
    };
    expect(isFull(ebsOf('again', 'vol-2'))).toBe(false);
    expect(isFull(ebsOf('third', 'vol-3'))).toBe(true);
  });
});

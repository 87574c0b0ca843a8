import type { DeepReadonly, KubernetesObject, NodeTerm } from '@rollkeeper/machinery/kubernetes';
import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { ReadablePod } from '../../framework/node-info.js';
import type { Volume } from './pod-claims.js';
import { BETA_REGION, BETA_ZONE, REGION, ZONE, zonesIn } from './zone-labels.js';

/** A node's CSI drivers. */
export interface CsiNode extends KubernetesObject {
  spec?: { drivers?: { name: string; allocatable?: { count?: number } }[] };
}

/** A volume as its CSI driver knows it. */
export interface CsiSource {
  readonly driver: string;
  readonly volumeHandle: string;
}

type PodVolume = NonNullable<ReadablePod['spec']['volumes']>[number];
type Spec = Volume['spec'];
/** The sources of Kubernetes' own volumes, before CSI: in a PersistentVolume, or in a pod. */
type InTreeSources = Pick<
  Spec | PodVolume,
  'awsElasticBlockStore' | 'azureDisk' | 'cinder' | 'gcePersistentDisk' | 'portworxVolume'
>;

interface InTreePlugin {
  readonly name: string;
  readonly driver: string;
  /** The label of nodes by which the driver knows their zone. @default the driver has no zones */
  readonly zoneKey?: string;
  /** @returns undefined for a volume of another plug-in, or one that the driver could not find */
  readonly handleOf: (sources: InTreeSources, labels: Labels) => string | undefined;
}

type Labels = DeepReadonly<KubernetesObject['metadata']['labels']>;

const ZONES = [ZONE, BETA_ZONE] as const;
/** Lists the plug-ins whose volumes a node's CSI drivers serve. Kubelets write it. */
const MIGRATED_PLUGINS = 'storage.alpha.kubernetes.io/migrated-plugins';

/**
 * The plug-ins whose volumes CSI drivers have taken over, as a scheduler counts and places them. Source: k8s.io/csi-translation-lib,
 * and isCSIMigrationOn in k/k pkg/scheduler/framework/plugins/nodevolumelimits.
 */
const PLUGINS: readonly InTreePlugin[] = [
  {
    name: 'kubernetes.io/aws-ebs',
    driver: 'ebs.csi.aws.com',
    zoneKey: 'topology.ebs.csi.aws.com/zone',
    handleOf: ({ awsElasticBlockStore }) => awsElasticBlockStore && ebsVolume(awsElasticBlockStore.volumeID),
  },
  {
    name: 'kubernetes.io/gce-pd',
    driver: 'pd.csi.storage.gke.io',
    zoneKey: 'topology.gke.io/zone',
    handleOf: ({ gcePersistentDisk }, labels) =>
      gcePersistentDisk && gceDisk(gcePersistentDisk.pdName, labels),
  },
  {
    name: 'kubernetes.io/azure-disk',
    driver: 'disk.csi.azure.com',
    handleOf: ({ azureDisk }) => azureDisk?.diskURI,
  },
  {
    name: 'kubernetes.io/cinder',
    driver: 'cinder.csi.openstack.org',
    zoneKey: 'topology.cinder.csi.openstack.org/zone',
    handleOf: ({ cinder }) => cinder?.volumeID,
  },
  {
    name: 'kubernetes.io/portworx-volume',
    driver: 'pxd.portworx.com',
    handleOf: ({ portworxVolume }) => portworxVolume?.volumeID,
  },
];
/** Provisioners of plug-ins that have drivers, but whose volumes no scheduler counts. */
const NOT_COUNTED = new Set(['kubernetes.io/azure-file', 'kubernetes.io/vsphere-volume']);

/** How a node takes volumes of Kubernetes' own: by a CSI driver if that has taken over, else not countable at all. */
export class CsiMigration {
  private readonly plugins: readonly InTreePlugin[];

  constructor(csiNode: DeepReadonly<CsiNode> | undefined) {
    const names = csiNode?.metadata.annotations?.[MIGRATED_PLUGINS]?.split(',') ?? [];
    this.plugins = names.length === 0 ? [] : PLUGINS.filter(({ name }) => names.includes(name));
  }

  /** @returns undefined for a volume that no CSI driver serves */
  sourceOf({ metadata, spec }: Volume): CsiSource | undefined {
    return spec.csi ?? this.migrated(spec, metadata.labels);
  }

  /** The source of a volume that a pod names itself. */
  inlineSourceOf(volume: PodVolume): CsiSource | undefined {
    return this.migrated(volume, undefined);
  }

  /** @returns undefined where what it makes is not counted */
  driverOf(provisioner: string): string | undefined {
    if (NOT_COUNTED.has(provisioner)) return undefined;
    if (!PLUGINS.some(({ name }) => name === provisioner)) return provisioner;
    return this.plugins.find(({ name }) => name === provisioner)?.driver;
  }

  /** The volume with its zone as the labels of its driver say it. */
  placed(volume: Volume): Volume {
    const { metadata, spec } = volume;
    const plugin = spec.csi ? undefined : this.pluginOf(spec, metadata.labels);
    if (!plugin?.zoneKey) return volume;
    const terms = inZonesOf(plugin.zoneKey, spec.nodeAffinity?.required?.nodeSelectorTerms, metadata.labels);
    if (!terms) return volume;
    return {
      ...volume,
      spec: { ...spec, nodeAffinity: { required: { nodeSelectorTerms: terms } } },
    };
  }

  private migrated(sources: InTreeSources, labels: Labels): CsiSource | undefined {
    const plugin = this.pluginOf(sources, labels);
    const volumeHandle = plugin?.handleOf(sources, labels);
    return plugin && volumeHandle ? { driver: plugin.driver, volumeHandle } : undefined;
  }

  private pluginOf(sources: InTreeSources, labels: Labels): InTreePlugin | undefined {
    return this.plugins.find(({ handleOf }) => handleOf(sources, labels) !== undefined);
  }
}

/** Whether a CSI driver may have taken over a volume that a pod names itself. */
export function mayBeMigrated(volume: PodVolume): boolean {
  return Boolean(
    volume.awsElasticBlockStore ??
    volume.azureDisk ??
    volume.cinder ??
    volume.gcePersistentDisk ??
    volume.portworxVolume,
  );
}

/** The volume of `aws://ZONE/VOLUME`, or the volume alone. */
function ebsVolume(id: string): string | undefined {
  if (!id.startsWith('aws://')) return id;
  const [, ...path] = id.slice('aws://'.length).split('/');
  const [volume = '', ...more] = path.filter((part) => part !== '');
  return more.length === 0 && volume.startsWith('vol-') ? volume : undefined;
}

/** A disk in one zone, or in the region of several. Kubernetes does not know its project. */
function gceDisk(name: string, labels: Labels): string | undefined {
  const zones = zonesIn(ownField(labels, BETA_ZONE) || ownField(labels, ZONE) || '');
  const [zone = ''] = zones;
  if (zones.length === 1) return `projects/UNSPECIFIED/zones/${zone || 'UNSPECIFIED'}/disks/${name}`;
  const regions = new Set(zones.map((each) => /^([^-]+-[^-]+)-[^-]+$/.exec(each)?.[1]));
  const [region] = regions;
  return regions.size === 1 && region ? `projects/UNSPECIFIED/regions/${region}/disks/${name}` : undefined;
}

type Terms = readonly DeepReadonly<NodeTerm>[];

/** Source: translateTopologyFromInTreeToCSI. @returns undefined where nothing says where the volume is */
function inZonesOf(zoneKey: string, terms: Terms = [], labels: Labels): Terms | undefined {
  const isNamed = (key: string): boolean =>
    terms.some(({ matchExpressions = [] }) => matchExpressions.some((each) => each.key === key));
  const byAffinity = ZONES.find(isNamed);
  const label = byAffinity ?? ZONES.find((key) => ownField(labels, key) !== undefined);
  if (!label) return undefined;
  const keys = new Map<string, string>([[label, zoneKey]]);
  if (label === BETA_ZONE) keys.set(BETA_REGION, REGION);
  const renamed = terms.map((term) => ({
    ...term,
    ...(term.matchExpressions && {
      matchExpressions: term.matchExpressions.map((each) => ({
        ...each,
        key: keys.get(each.key) ?? each.key,
      })),
    }),
  }));
  if (byAffinity) return renamed;
  const zones = zonesIn(ownField(labels, label) ?? '');
  const values = [...new Set(zones.filter((zone) => zone !== ''))].toSorted();
  if (values.length === 0) return renamed;
  const isThere = { key: zoneKey, operator: 'In' as const, values };
  return (renamed.length > 0 ? renamed : [{}]).map(({ matchExpressions = [], ...rest }: Terms[number]) => ({
    ...rest,
    matchExpressions: [...matchExpressions, isThere],
  }));
}

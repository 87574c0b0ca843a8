import type { PodInfo, ReadablePod } from '../../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin, SchedulingContext } from '../../framework/plugin.js';
import { SKIP, unresolvable, unschedulable } from '../../framework/status.js';
import { on, onObjects, onPods } from '../hints.js';
import { claimNotFound, claimedVolumesOf, isClaimOf } from './pod-claims.js';

const DISK_TAKEN = unschedulable('node(s) had no available disk');
const CLAIM_TAKEN = unschedulable(
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
);

type VolumeOfPod = NonNullable<ReadablePod['spec']['volumes']>[number];

interface Restrictions {
  readonly disks: readonly VolumeOfPod[];
  /** The pod's claims that one pod alone may use, by name. */
  readonly exclusive: ReadonlySet<string>;
  /** Uses of those by other pods, anywhere. */
  readonly conflicts: number;
}

/** Keeps a pod away from disks and claims that another pod has for itself. */
export const volumeRestrictions: PluginFactory = () => {
  const plugin: SchedulerPlugin<Restrictions> = {
    name: 'VolumeRestrictions',
    eventsToRegister: [
      onPods(['delete'], (pod, before) => before !== undefined && shareVolumes(pod, before)),
      on('nodes', 'add'),
      onObjects('persistentvolumeclaims', ['add'], (pod, _before, after) => isClaimOf(pod, after)),
    ],
    preFilter({ pod: { pod }, snapshot, view }: SchedulingContext) {
      const { volumes } = pod.spec;
      if (!volumes) return { status: SKIP };
      const exclusive = new Set<string>();
      for (const { claim, isEphemeral, name } of claimedVolumesOf(pod, view)) {
        if (isEphemeral) continue;
        if (!claim) return { status: unresolvable(claimNotFound(name)) };
        if (claim.spec.accessModes?.includes('ReadWriteOncePod')) exclusive.add(name);
      }
      const disks = volumes.filter(isDisk);
      const isUsed = (name: string): boolean => snapshot.claimUsers(`${pod.metadata.namespace}/${name}`) > 0;
      const conflicts = [...exclusive].filter(isUsed).length;
      if (disks.length === 0 && conflicts === 0) return { status: SKIP };
      return { state: { disks, exclusive, conflicts } };
    },
    withPod: (state, added, _node, { pod }) => changed(state, added, pod, 1),
    withoutPod: (state, removed, _node, { pod }) => changed(state, removed, pod, -1),
    filter({ pods }, _context, { conflicts, disks }) {
      for (const disk of disks)
        for (const { pod } of pods)
          if (pod.spec.volumes?.some((other) => isSameDisk(disk, other))) return DISK_TAKEN;
      return conflicts > 0 ? CLAIM_TAKEN : undefined;
    },
  };
  return plugin;
};

/** Whether the pod that went may have held a disk or a claim of this one. */
function shareVolumes(pod: ReadablePod, gone: ReadablePod): boolean {
  if (pod.metadata.namespace !== gone.metadata.namespace) return false;
  const left = gone.spec.volumes ?? [];
  return (pod.spec.volumes ?? []).some((volume) =>
    left.some((other) => {
      const name = volume.persistentVolumeClaim?.claimName;
      return (
        isSameDisk(volume, other) || (name !== undefined && name === other.persistentVolumeClaim?.claimName)
      );
    }),
  );
}

function changed(state: Restrictions, other: PodInfo, pod: PodInfo, by: 1 | -1): Restrictions {
  if (other.pod.metadata.namespace !== pod.pod.metadata.namespace) return state;
  const uses = (other.pod.spec.volumes ?? []).filter(
    ({ persistentVolumeClaim }) =>
      persistentVolumeClaim && state.exclusive.has(persistentVolumeClaim.claimName),
  ).length;
  return uses === 0 ? state : { ...state, conflicts: state.conflicts + by * uses };
}

function isDisk({ awsElasticBlockStore, gcePersistentDisk, iscsi, rbd }: VolumeOfPod): boolean {
  return Boolean(awsElasticBlockStore ?? gcePersistentDisk ?? iscsi ?? rbd);
}

interface Mounted {
  readonly readOnly?: boolean;
}

/** Whether both mean one disk that they cannot share: most can be shared by readers. */
function isSameDisk(one: VolumeOfPod, other: VolumeOfPod): boolean {
  const areReaders = (first: Mounted, second: Mounted): boolean =>
    first.readOnly === true && second.readOnly === true;
  const [gce, otherGce] = [one.gcePersistentDisk, other.gcePersistentDisk];
  if (gce && otherGce && gce.pdName === otherGce.pdName && !areReaders(gce, otherGce)) return true;
  const [ebs, otherEbs] = [one.awsElasticBlockStore, other.awsElasticBlockStore];
  if (ebs && otherEbs && ebs.volumeID === otherEbs.volumeID) return true;
  const [iscsi, otherIscsi] = [one.iscsi, other.iscsi];
  if (iscsi && otherIscsi && iscsi.iqn === otherIscsi.iqn && !areReaders(iscsi, otherIscsi)) return true;
  const [rbd, otherRbd] = [one.rbd, other.rbd];
  if (!rbd || !otherRbd || areReaders(rbd, otherRbd)) return false;
  return (
    rbd.image === otherRbd.image &&
    (rbd.pool ?? DEFAULT_POOL) === (otherRbd.pool ?? DEFAULT_POOL) &&
    rbd.monitors.some((monitor) => otherRbd.monitors.includes(monitor))
  );
}

const DEFAULT_POOL = 'rbd';

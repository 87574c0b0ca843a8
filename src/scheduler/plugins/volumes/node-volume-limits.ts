import { storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject, StorageClass } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { NodeInfo, ReadablePod } from '../../framework/node-info.js';
import type { PluginFactory, Verdict } from '../../framework/plugin.js';
import { SKIP, unresolvable, unschedulable } from '../../framework/status.js';
import type { CsiNode, CsiSource } from './csi-migration.js';
import { CsiMigration, mayBeMigrated } from './csi-migration.js';
import type { Claim } from './pod-claims.js';
import { isOnNode, on, onObjects, onPods } from '../hints.js';
import { claimNotFound, claimedVolumesOf, isClaimOf, volumeNamed } from './pod-claims.js';

interface VolumeAttachment extends KubernetesObject {
  spec?: { nodeName?: string; source?: { persistentVolumeName?: string } };
}

/** Volumes by driver and handle, with their driver. */
type Attached = Map<string, string>;

const TOO_MANY = unschedulable('node(s) exceed max volume count');

/** Refuses nodes to which a driver could attach no more volumes. */
export const nodeVolumeLimits: PluginFactory = (_args, { view }) => ({
  name: 'NodeVolumeLimits',
  eventsToRegister: [
    on('storage.k8s.io/csinodes', 'add'),
    onObjects<CsiNode>('storage.k8s.io/csinodes', ['update'], (_pod, before, after) =>
      isAnyLimitRaised(before, after),
    ),
    onPods(
      ['delete'],
      (_pod, before) =>
        (isOnNode(before) || Boolean(before?.status?.nominatedNodeName)) && hasVolumes(before),
    ),
    onObjects('persistentvolumeclaims', ['add'], (pod, _before, after) => isClaimOf(pod, after)),
    onObjects<VolumeAttachment>('storage.k8s.io/volumeattachments', ['delete'], (pod, before) =>
      claimedVolumesOf(pod, view).some(
        ({ claim }) => claim && claim.spec.volumeName === before?.spec?.source?.persistentVolumeName,
      ),
    ),
  ],
  preFilter: ({ pod }) => (hasVolumes(pod.pod) ? {} : { status: SKIP }),
  filter: (node, context) => filterByLimits(node, context.pod.pod, context.view),
});

/** Whether a driver may have to attach any volume of the pod. */
function hasVolumes(pod: ReadablePod | undefined): boolean {
  const volumes = pod?.spec.volumes ?? [];
  return volumes.some((volume) => volume.ephemeral ?? volume.persistentVolumeClaim ?? mayBeMigrated(volume));
}

function isAnyLimitRaised(
  before: DeepReadonly<CsiNode> | undefined,
  after: DeepReadonly<CsiNode> | undefined,
): boolean {
  const had = limitsIn(before);
  return [...limitsIn(after)].some(([driver, limit]) => limit > (had.get(driver) ?? Infinity));
}

function filterByLimits(node: NodeInfo, pod: ReadablePod, view: ClusterView): Verdict {
  const missing = claimedVolumesOf(pod, view).find(({ claim }) => !claim);
  if (missing)
    return unresolvable(
      `looking up PVC ${pod.metadata.namespace}/${missing.name}: ${claimNotFound(missing.name)}`,
    );
  const csiNode = view.get<CsiNode>('storage.k8s.io/csinodes', { name: node.name });
  const counting: Counting = { view, migration: new CsiMigration(csiNode) };
  const wanted: Attached = new Map();
  attach(wanted, pod, counting);
  const limits = limitsIn(csiNode);
  if (wanted.size === 0 || limits.size === 0) return undefined;
  const attached: Attached = new Map();
  for (const other of node.pods) attach(attached, other.pod, counting);
  attachByAttachments(attached, node.name, counting);
  for (const volume of attached.keys()) wanted.delete(volume);
  const held = countByDriver(attached);
  for (const [driver, count] of countByDriver(wanted)) {
    const limit = limits.get(driver);
    if (limit !== undefined && (held.get(driver) ?? 0) + count > limit) return TOO_MANY;
  }
  return undefined;
}

/** A driver that states no count has no limit. */
function limitsIn(csiNode: DeepReadonly<CsiNode> | undefined): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const { allocatable, name } of csiNode?.spec?.drivers ?? [])
    if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
  return limits;
}

/** The inputs that determine which volumes of a node count. */
interface Counting {
  readonly view: ClusterView;
  readonly migration: CsiMigration;
}

function attach(attached: Attached, pod: ReadablePod, counting: Counting): void {
  if (!pod.spec.volumes) return;
  for (const volume of pod.spec.volumes) count(attached, counting.migration.inlineSourceOf(volume));
  for (const { claim } of claimedVolumesOf(pod, counting.view))
    if (claim) count(attached, ofVolume(claim.spec.volumeName, counting) ?? toBeProvisioned(claim, counting));
}

function count(attached: Attached, source: CsiSource | undefined): void {
  if (source) attached.set(`${source.driver}/${source.volumeHandle}`, source.driver);
}

/** A volume that is attached counts too if no pod of the node uses it any more. */
function attachByAttachments(attached: Attached, node: string, counting: Counting): void {
  for (const { spec } of counting.view.list<VolumeAttachment>('storage.k8s.io/volumeattachments'))
    if (spec?.nodeName === node) count(attached, ofVolume(spec.source?.persistentVolumeName, counting));
}

/** @returns undefined where the volume is not there, or belongs to no CSI driver */
function ofVolume(name: string | undefined, { migration, view }: Counting): CsiSource | undefined {
  const volume = name ? volumeNamed(name, view) : undefined;
  return volume && migration.sourceOf(volume);
}

/** A claim that is not bound will become a volume of its class's provisioner. */
function toBeProvisioned(claim: Claim, { migration, view }: Counting): CsiSource | undefined {
  if (claim.spec.volumeName && volumeNamed(claim.spec.volumeName, view)) return undefined;
  const name = storageClassNameOf(claim);
  const found = name ? view.get<StorageClass>('storage.k8s.io/storageclasses', { name }) : undefined;
  const driver = found?.provisioner ? migration.driverOf(found.provisioner) : undefined;
  const { name: claimName, namespace } = claim.metadata;
  return driver ? { driver, volumeHandle: `claim ${namespace}/${claimName}` } : undefined;
}

function countByDriver(attached: Attached): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const driver of attached.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
}

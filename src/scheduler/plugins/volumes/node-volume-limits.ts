import { storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject, StorageClass } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { NodeInfo, ReadablePod } from '../../framework/node-info.js';
import type { PluginFactory, Verdict } from '../../framework/plugin.js';
import { SKIP, unresolvable, unschedulable } from '../../framework/status.js';
import type { Claim } from './pod-claims.js';
import { isOnNode, on, onObjects, onPods } from '../hints.js';
import { claimNotFound, claimedVolumesOf, isClaimOf, volumeNamed } from './pod-claims.js';

interface CsiNode extends KubernetesObject {
  spec?: { drivers?: { name: string; allocatable?: { count?: number } }[] };
}

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
      (_pod, before) => (isOnNode(before) || Boolean(before?.status?.nominatedNodeName)) && hasClaims(before),
    ),
    onObjects('persistentvolumeclaims', ['add'], (pod, _before, after) => isClaimOf(pod, after)),
    onObjects<VolumeAttachment>('storage.k8s.io/volumeattachments', ['delete'], (pod, before) =>
      claimedVolumesOf(pod, view).some(
        ({ claim }) => claim && claim.spec.volumeName === before?.spec?.source?.persistentVolumeName,
      ),
    ),
  ],
  preFilter: ({ pod }) => (hasClaims(pod.pod) ? {} : { status: SKIP }),
  filter: (node, context) => filterByLimits(node, context.pod.pod, context.view),
});

function hasClaims(pod: ReadablePod | undefined): boolean {
  const volumes = pod?.spec.volumes ?? [];
  return volumes.some(({ ephemeral, persistentVolumeClaim }) => ephemeral ?? persistentVolumeClaim);
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
  const wanted: Attached = new Map();
  attach(wanted, pod, view);
  const limits = limitsIn(view.get<CsiNode>('storage.k8s.io/csinodes', { name: node.name }));
  if (wanted.size === 0 || limits.size === 0) return undefined;
  const attached: Attached = new Map();
  for (const other of node.pods) attach(attached, other.pod, view);
  attachByAttachments(attached, node.name, view);
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

function attach(attached: Attached, pod: ReadablePod, view: ClusterView): void {
  if (!pod.spec.volumes) return;
  for (const { claim } of claimedVolumesOf(pod, view)) {
    const found = claim && (ofVolume(claim.spec.volumeName, view) ?? toBeProvisioned(claim, view));
    if (found) attached.set(found.handle, found.driver);
  }
}

/** What is attached though no pod of the node uses it any more counts too. */
function attachByAttachments(attached: Attached, node: string, view: ClusterView): void {
  for (const { spec } of view.list<VolumeAttachment>('storage.k8s.io/volumeattachments')) {
    const found = spec?.nodeName === node ? ofVolume(spec.source?.persistentVolumeName, view) : undefined;
    if (found) attached.set(found.handle, found.driver);
  }
}

interface AttachedVolume {
  readonly driver: string;
  /** Unique among all drivers. */
  readonly handle: string;
}

/** @returns undefined where the volume is not there, or belongs to no CSI driver */
function ofVolume(name: string | undefined, view: ClusterView): AttachedVolume | undefined {
  const csi = name ? volumeNamed(name, view)?.spec.csi : undefined;
  return csi && { driver: csi.driver, handle: `${csi.driver}/${csi.volumeHandle}` };
}

/** A claim that is not bound will become a volume of its class's provisioner. */
function toBeProvisioned(claim: Claim, view: ClusterView): AttachedVolume | undefined {
  if (claim.spec.volumeName && volumeNamed(claim.spec.volumeName, view)) return undefined;
  const name = storageClassNameOf(claim);
  const driver = name
    ? view.get<DeepReadonly<StorageClass> & KubernetesObject>('storage.k8s.io/storageclasses', { name })
        ?.provisioner
    : undefined;
  return driver
    ? { driver, handle: `${driver}/claim ${claim.metadata.namespace}/${claim.metadata.name}` }
    : undefined;
}

function countByDriver(attached: Attached): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const driver of attached.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
}

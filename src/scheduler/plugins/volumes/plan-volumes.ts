import {
  NO_PROVISIONER,
  SELECTED_NODE,
  findVolume,
  isWithinReach,
  nanosOf,
  ownField,
  storageClassNameOf,
} from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, PersistentVolume, StorageClass } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ReadableNode } from '../../framework/node-info.js';
import type { CsiNode } from './csi-migration.js';
import { CsiMigration } from './csi-migration.js';
import type { Claim, Volume } from './pod-claims.js';
import { volumeNamed } from './pod-claims.js';
import type { SortedClaims } from './sort-claims.js';
import { hasCapacity } from './storage-capacity.js';

/** The work that a pod's claims need if it is to run on a node. */
export interface VolumePlan {
  readonly bind: readonly { readonly claim: Claim; readonly volume: Volume }[];
  /** Claims whose volumes must be provisioned for this node. */
  readonly provision: readonly Claim[];
}

/** Why a node cannot have the volumes, in the words of the condition. */
export type VolumeObstacles = readonly string[];

const OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity";
const NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'node(s) did not have enough free storage';
const NO_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';

/**
 * Chooses a volume on this node for each claim that waits. A claim without a match is provisioned if that is possible.
 */
export function planVolumes(
  { bound, delayed }: SortedClaims,
  node: ReadableNode,
  view: ClusterView,
): VolumePlan | VolumeObstacles {
  const ofBound = obstacleOfBound(bound, node, view);
  const plan = planDelayed(delayed, node, view);
  if (typeof plan !== 'string') return ofBound === undefined ? plan : [ofBound];
  // The message names a missing volume last, and one out of reach first.
  if (ofBound === undefined) return [plan];
  return ofBound === NO_VOLUME ? [plan, ofBound] : [ofBound, plan];
}

export function isPlan(found: VolumePlan | VolumeObstacles): found is VolumePlan {
  return 'bind' in found;
}

function obstacleOfBound(
  claims: readonly Claim[],
  node: ReadableNode,
  view: ClusterView,
): string | undefined {
  if (claims.length === 0) return undefined;
  const csiNode = view.get<CsiNode>('storage.k8s.io/csinodes', { name: node.metadata.name });
  const migration = new CsiMigration(csiNode);
  for (const { spec } of claims) {
    const volume = volumeNamed(spec.volumeName ?? '', view);
    if (!volume) return NO_VOLUME;
    if (!isWithinReach(migration.placed(volume), node)) return OUT_OF_REACH;
  }
  return undefined;
}

function planDelayed(claims: readonly Claim[], node: ReadableNode, view: ClusterView): VolumePlan | string {
  const selected = claims.filter(isForOneNode);
  if (selected.some(({ metadata }) => metadata.annotations?.[SELECTED_NODE] !== node.metadata.name))
    return NOTHING_TO_BIND;
  const { bind, left } = matchVolumes(
    claims.filter((claim) => !isForOneNode(claim)),
    node,
    view,
  );
  const provision = [...selected, ...left];
  for (const claim of provision) {
    const obstacle = provisioningObstacle(claim, node, view);
    if (obstacle !== undefined) return obstacle;
  }
  return { bind, provision };
}

/** A volume is being made for it, or has been ordered. */
function isForOneNode({ metadata }: Claim): boolean {
  return metadata.annotations?.[SELECTED_NODE] !== undefined;
}

/** The smallest claim chooses first, so that the large volumes are left for the large claims. */
function matchVolumes(claims: readonly Claim[], node: ReadableNode, view: ClusterView) {
  const bind: { claim: Claim; volume: Volume }[] = [];
  const left: Claim[] = [];
  const taken = new Set<string>();
  if (claims.length === 0) return { bind, left };
  const volumes = view.list<PersistentVolume>('persistentvolumes');
  for (const claim of claims.toSorted(bySize)) {
    const wanted = storageClassNameOf(claim) ?? '';
    const ofClass = volumes.filter((volume) => (storageClassNameOf(volume) ?? '') === wanted);
    const volume = findVolume(claim, ofClass, { node, taken });
    if (!volume) {
      left.push(claim);
      continue;
    }
    taken.add(volume.metadata.name);
    bind.push({ claim, volume });
  }
  return { bind, left };
}

function bySize(one: Claim, other: Claim): number {
  const difference = sizeOf(one) - sizeOf(other);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function sizeOf({ spec }: Claim): bigint {
  return nanosOf(spec.resources?.requests?.['storage']);
}

function provisioningObstacle(claim: Claim, node: ReadableNode, view: ClusterView): string | undefined {
  const storageClass = storageClassNameOf(claim);
  const found = storageClass
    ? view.get<StorageClass>('storage.k8s.io/storageclasses', { name: storageClass })
    : undefined;
  if (!storageClass || !found) throw new Error(`failed to find storage class "${storageClass ?? ''}"`);
  const { allowedTopologies, provisioner } = found;
  if (!provisioner || provisioner === NO_PROVISIONER || !isAllowed(allowedTopologies, node))
    return NOTHING_TO_BIND;
  return hasCapacity({ claim, provisioner, storageClass }, node, view) ? undefined : NO_SPACE;
}

type Topologies = DeepReadonly<StorageClass['allowedTopologies']>;

/** Any of the terms; of a term every label. */
function isAllowed(terms: Topologies, { metadata: { labels } }: ReadableNode): boolean {
  if (!terms || terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions = [] }) => {
    const isMet = ({
      key,
      values,
    }: {
      readonly key: string;
      readonly values: readonly string[];
    }): boolean => {
      const value = ownField(labels, key);
      return value !== undefined && values.includes(value);
    };
    return matchLabelExpressions.length > 0 && matchLabelExpressions.every(isMet);
  });
}

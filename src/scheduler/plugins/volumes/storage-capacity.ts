import { nanosOf, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ReadableNode } from '../../framework/node-info.js';
import type { Claim } from './pod-claims.js';

export interface CsiDriver extends KubernetesObject {
  spec?: { storageCapacity?: boolean };
}

export interface CsiStorageCapacity extends KubernetesObject {
  storageClassName: string;
  capacity?: string;
  maximumVolumeSize?: string;
  nodeTopology?: LabelSelector;
}

interface NewVolume {
  readonly claim: Claim;
  readonly storageClass: string;
  readonly provisioner: string;
}

/**
 * Whether the provisioner has room for the volume within the node's reach. One that does not report its capacity counts
 * as having room.
 */
export function hasCapacity(
  { claim, provisioner, storageClass }: NewVolume,
  node: ReadableNode,
  view: ClusterView,
): boolean {
  const wanted = claim.spec.resources?.requests?.['storage'];
  const driver = view.get<CsiDriver>('storage.k8s.io/csidrivers', { name: provisioner });
  if (wanted === undefined || driver?.spec?.storageCapacity !== true) return true;
  const size = nanosOf(wanted);
  return view
    .list<CsiStorageCapacity>('storage.k8s.io/csistoragecapacities')
    .some(
      (each) =>
        each.storageClassName === storageClass &&
        volumeLimitOf(each) >= size &&
        each.nodeTopology !== undefined &&
        tryCompileLabelSelector(each.nodeTopology)?.(node.metadata.labels) === true,
    );
}

/** How large a single volume may be, in billionths; below zero where that is unknown. */
export function volumeLimitOf({
  capacity,
  maximumVolumeSize,
}: Readonly<Pick<CsiStorageCapacity, 'capacity' | 'maximumVolumeSize'>>): bigint {
  const limit = maximumVolumeSize ?? capacity;
  return limit === undefined ? -1n : nanosOf(limit);
}

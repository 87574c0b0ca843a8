import { BIND_COMPLETED, isControlledBy, storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
import type { StorageClass } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ReadablePod } from '../../framework/node-info.js';
import type { Status } from '../../framework/status.js';
import { unresolvable } from '../../framework/status.js';
import type { Claim, ClaimedVolume } from './pod-claims.js';
import { claimNotFound, claimedVolumesOf } from './pod-claims.js';

/** A pod's claims by what is left to do. */
export interface SortedClaims {
  readonly bound: readonly Claim[];
  /** They wait for the scheduler to choose a node. */
  readonly delayed: readonly Claim[];
}

const UNBOUND_IMMEDIATE = unresolvable('pod has unbound immediate PersistentVolumeClaims');

/** @returns undefined for a pod without claims; a refusal where a claim keeps the pod from any node */
export function sortClaims(pod: ReadablePod, view: ClusterView): SortedClaims | Status | undefined {
  const volumes = claimedVolumesOf(pod, view);
  if (volumes.length === 0) return undefined;
  const bound: Claim[] = [];
  const delayed: Claim[] = [];
  for (const volume of volumes) {
    const problem = problemOf(volume, pod);
    if (problem !== undefined) return unresolvable(problem);
  }
  for (const { claim } of volumes) {
    if (!claim) continue;
    if (isBound(claim)) bound.push(claim);
    else if (!claim.spec.volumeName && isDelayed(claim, view)) delayed.push(claim);
    else return UNBOUND_IMMEDIATE;
  }
  return { bound, delayed };
}

function problemOf({ claim, isEphemeral, name }: ClaimedVolume, pod: ReadablePod): string | undefined {
  if (!claim)
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : claimNotFound(name);
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec.volumeName ?? ''}"`;
  if (claim.metadata.deletionTimestamp !== undefined)
    return `persistentvolumeclaim "${name}" is being deleted`;
  if (!isEphemeral || isControlledBy(claim, pod)) return undefined;
  const { name: podName, namespace } = pod.metadata;
  return `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`;
}

/** Whether both sides of the binding have been written. */
function isBound({ metadata, spec }: Claim): boolean {
  return Boolean(spec.volumeName) && Object.hasOwn(metadata.annotations ?? {}, BIND_COMPLETED);
}

function isDelayed(claim: Claim, view: ClusterView): boolean {
  const name = storageClassNameOf(claim);
  const found = name && view.get<StorageClass>('storage.k8s.io/storageclasses', { name });
  return found ? found.volumeBindingMode === 'WaitForFirstConsumer' : false;
}

import { claimNamesOf, ephemeralClaimName } from '@rollkeeper/machinery/kubernetes';
import type {
  DeepReadonly,
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
} from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ReadablePod } from '../../framework/node-info.js';

export type Claim = DeepReadonly<PersistentVolumeClaim>;
export type Volume = DeepReadonly<PersistentVolume>;

/** A volume of a pod that comes by a claim. */
export interface ClaimedVolume {
  readonly name: string;
  /** The claim is the pod's own: made for it and deleted with it. */
  readonly isEphemeral: boolean;
  /** None where it does not exist (yet). */
  readonly claim: Claim | undefined;
}

export function claimedVolumesOf({ metadata, spec }: ReadablePod, view: ClusterView): ClaimedVolume[] {
  const { namespace = '' } = metadata;
  const found: ClaimedVolume[] = [];
  for (const { ephemeral, name, persistentVolumeClaim } of spec.volumes ?? []) {
    if (!persistentVolumeClaim && !ephemeral) continue;
    const claimName = persistentVolumeClaim?.claimName ?? ephemeralClaimName(metadata.name, name);
    found.push({
      name: claimName,
      isEphemeral: !persistentVolumeClaim,
      claim: view.get<PersistentVolumeClaim>('persistentvolumeclaims', { namespace, name: claimName }),
    });
  }
  return found;
}

/** Whether the pod uses this claim. */
export function isClaimOf(pod: ReadablePod, claim: DeepReadonly<KubernetesObject> | undefined): boolean {
  if (!claim || claim.metadata.namespace !== pod.metadata.namespace) return false;
  return claimNamesOf(pod).includes(claim.metadata.name);
}

export function claimNotFound(name: string): string {
  return `persistentvolumeclaim "${name}" not found`;
}

export function volumeNamed(name: string, view: ClusterView): Volume | undefined {
  return view.get<PersistentVolume>('persistentvolumes', { name });
}

import { BOUND_BY_CONTROLLER, PROVISIONED_BY, isBoundTo } from '@rollkeeper/machinery/kubernetes';
import type { EventNote } from '@rollkeeper/runtime';
import type { ReadableClaim, ReadableVolume } from './decide-claim.js';

type VolumeDecision =
  | { readonly action: 'set-phase'; readonly phase: 'Available' | 'Bound' }
  /** Its claim was deleted, or has another volume. */
  | { readonly action: 'release' }
  /** Its claim got another volume: remove the reservation, so that it is free again. */
  | { readonly action: 'unbind' }
  /** The sync of its claim continues. */
  | { readonly action: 'nothing' };

/**
 * The next step of a volume. Source: `syncVolume` in k/k pkg/controller/volume/persistentvolume.
 * @param claim the one of the name in its reference, if there is any
 */
export function decideVolume(volume: ReadableVolume, claim: ReadableClaim | undefined): VolumeDecision {
  const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec;
  if (!claimRef?.uid) return { action: 'set-phase', phase: 'Available' };
  if (!claim || !isBoundTo(volume, claim)) return { action: 'release' };
  const { volumeName } = claim.spec;
  if (!volumeName) return { action: 'nothing' };
  if (volumeName === volume.metadata.name) return { action: 'set-phase', phase: 'Bound' };
  const isMadeForIt = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined && policy === 'Delete';
  return isMadeForIt ? { action: 'release' } : { action: 'unbind' };
}

/**
 * Why a released volume cannot be reclaimed by its policy; undefined if it is retained, or left to its provisioner.
 * Source: `reclaimVolume`.
 */
export function decideReclaim(volume: ReadableVolume): EventNote | undefined {
  const { metadata, spec } = volume;
  if (spec.persistentVolumeReclaimPolicy === 'Recycle')
    return failed('VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  const isOthers = metadata.annotations?.[PROVISIONED_BY] !== undefined;
  if (spec.persistentVolumeReclaimPolicy !== 'Delete' || isOthers) return undefined;
  const message = `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`;
  return failed('VolumeFailedDelete', message);
}

function failed(reason: string, message: string): EventNote {
  return { type: 'Warning', reason, message };
}

/** The reference to keep when a volume is unbound: none, or the one that a user wrote. */
export function unboundRef({ metadata, spec }: ReadableVolume): object | null {
  if (metadata.annotations?.[BOUND_BY_CONTROLLER] !== undefined || !spec.claimRef) return null;
  return { ...spec.claimRef, uid: null, resourceVersion: null };
}

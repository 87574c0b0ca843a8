import { isSelectedByTerms } from './node-fit.js';
import type { DeepReadonly, Node } from './objects.js';
import { compileLabelSelector } from './label-selector.js';
import { nanosOf } from './quantity.js';
import type { PersistentVolume, PersistentVolumeClaim } from './volumes.js';
import { BOUND_BY_CONTROLLER, storageClassNameOf } from './volumes.js';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

export interface MatchOptions {
  /** The volume must be accessible from it. @default any node */
  readonly node?: DeepReadonly<Node>;
  /** Only a volume reserved for this very claim matches: the scheduler chooses the others. @default false */
  readonly isDelayed?: boolean;
  /** Names of volumes already taken. @default none */
  readonly taken?: ReadonlySet<string>;
}

/** Whether the volume belongs to this claim: reserved for it or bound to it. */
export function isBoundTo({ spec: { claimRef } }: Pick<Volume, 'spec'>, { metadata }: Claim): boolean {
  if (!claimRef || claimRef.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return !claimRef.uid || claimRef.uid === metadata.uid;
}

/**
 * The volume for a claim: one reserved for it; otherwise the smallest free one that satisfies it. Source:
 * `FindMatchingVolume` in k8s.io/component-helpers/storage/volume.
 */
export function findVolume(
  claim: Claim,
  volumes: readonly Volume[],
  { isDelayed = false, node, taken }: MatchOptions = {},
): Volume | undefined {
  let smallest: Volume | undefined;
  for (const volume of volumes) {
    if (!isOfRightShape(volume, claim) || taken?.has(volume.metadata.name)) continue;
    const isNear = !node || isWithinReach(volume, node);
    if (isBoundTo(volume, claim)) {
      if (!isLargeEnough(volume, claim)) continue;
      return isNear ? volume : undefined;
    }
    const isOnOffer = !isDelayed && isNear && isFree(volume) && isWanted(volume, claim);
    if (isOnOffer && isLargeEnough(volume, claim) && isSmaller(volume, smallest)) smallest = volume;
  }
  return smallest;
}

/**
 * Why a claim cannot have the volume it names; undefined if it can. Source: `checkVolumeSatisfyClaim` in k/k
 * pkg/controller/volume/persistentvolume.
 */
export function mismatchOf(volume: Volume, claim: Claim): string | undefined {
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small';
  if ((storageClassNameOf(volume) ?? '') !== (storageClassNameOf(claim) ?? ''))
    return 'storageClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode';
}

/**
 * The merge patch that binds a volume to a claim, with a precondition on the observed state; undefined if it is bound
 * already. Source: `GetBindVolumeToClaim` in k8s.io/component-helpers/storage/volume.
 */
export function givingPatch({ metadata, spec }: Volume, claim: Claim): object | undefined {
  const { name, namespace, resourceVersion, uid } = claim.metadata;
  const isKept = isBoundTo({ spec }, claim);
  if (isKept && spec.claimRef?.uid === uid) return undefined;
  return {
    metadata: {
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      ...(!isKept && { annotations: { [BOUND_BY_CONTROLLER]: 'yes' } }),
    },
    spec: {
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion },
    },
  };
}

/** Whether pods on the node can use the volume. */
export function isWithinReach({ spec }: Volume, node: DeepReadonly<Node>): boolean {
  return isSelectedByTerms(spec.nodeAffinity?.required, node);
}

function isOfRightShape(volume: Volume, claim: Claim): boolean {
  if (volume.metadata.deletionTimestamp !== undefined && !isBoundTo(volume, claim)) return false;
  return modeOf(volume) === modeOf(claim) && hasAccessModes(volume, claim);
}

function isFree({ spec, status }: Volume): boolean {
  return !spec.claimRef && status?.phase === 'Available';
}

function isWanted(volume: Volume, claim: Claim): boolean {
  const { selector } = claim.spec;
  return (
    (storageClassNameOf(volume) ?? '') === (storageClassNameOf(claim) ?? '') &&
    (volume.spec.volumeAttributesClassName ?? '') === (claim.spec.volumeAttributesClassName ?? '') &&
    (!selector || compileLabelSelector(selector)(volume.metadata.labels))
  );
}

function modeOf({ spec }: Volume | Claim): string {
  return spec.volumeMode ?? 'Filesystem';
}

function hasAccessModes(volume: Volume, claim: Claim): boolean {
  return (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode));
}

function isLargeEnough(volume: Volume, claim: Claim): boolean {
  return sizeOf(volume) >= nanosOf(claim.spec.resources?.requests?.['storage']);
}

function isSmaller(volume: Volume, than: Volume | undefined): boolean {
  return !than || sizeOf(volume) < sizeOf(than);
}

function sizeOf({ spec }: Volume): bigint {
  return nanosOf(spec.capacity?.['storage']);
}

import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  SELECTED_NODE,
  findVolume,
  isBoundTo,
  mismatchOf,
  newestDefault,
  storageClassNameOf,
} from '@rollkeeper/machinery/kubernetes';
import type { EventNote, PersistentVolume, PersistentVolumeClaim, StorageClass } from '@rollkeeper/runtime';

export type ReadableClaim = DeepReadonly<PersistentVolumeClaim>;
export type ReadableVolume = DeepReadonly<PersistentVolume>;
type ReadableClass = DeepReadonly<StorageClass>;

/** The input of the decision about a claim. */
interface ClaimView {
  readonly claim: ReadableClaim;
  readonly volumes: readonly ReadableVolume[];
  readonly classes: readonly ReadableClass[];
}

export type ClaimDecision =
  | { readonly action: 'bind'; readonly volume: ReadableVolume }
  /** Stays unbound for now. */
  | { readonly action: 'wait'; readonly note?: EventNote }
  /** An external provisioner should create its volume. */
  | { readonly action: 'provision'; readonly provisioner: string }
  /** It has no class, and a default one exists now. */
  | { readonly action: 'set-class'; readonly className: string }
  /** It was bound, and its volume no longer exists. */
  | { readonly action: 'lose'; readonly note: EventNote }
  | { readonly action: 'nothing' };

/** Prefix of kube-controller-manager's in-tree plug-ins. */
const IN_TREE = 'kubernetes.io/';

/**
 * The next step of a claim. Source: `syncUnboundClaim` and `syncBoundClaim` in k/k
 * pkg/controller/volume/persistentvolume.
 */
export function decideClaim(view: ClaimView): ClaimDecision {
  const { claim } = view;
  if (claim.metadata.annotations?.[BIND_COMPLETED] !== undefined) return decideBound(view);
  if (claim.metadata.deletionTimestamp !== undefined) return { action: 'nothing' };
  return claim.spec.volumeName ? decideNamed(view, claim.spec.volumeName) : decideUnbound(view);
}

function decideBound({ claim, volumes }: ClaimView): ClaimDecision {
  const { volumeName } = claim.spec;
  if (!volumeName) return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume.');
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (!volume) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume.');
  const { claimRef } = volume.spec;
  if (!claimRef || claimRef.uid === claim.metadata.uid) return { action: 'bind', volume };
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
  return { action: 'lose', note: { type: 'Warning', reason: 'ClaimMisbound', message } };
}

function lost(reason: string, what: string): ClaimDecision {
  const message = `${what} Data on the volume is lost!`;
  return { action: 'lose', note: { type: 'Warning', reason, message } };
}

/** The claim names its volume. */
function decideNamed({ claim, volumes }: ClaimView, volumeName: string): ClaimDecision {
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (!volume) return { action: 'wait' };
  if (isBoundTo(volume, claim)) return { action: 'bind', volume };
  if (!volume.spec.claimRef) {
    const mismatch = mismatchOf(volume, claim);
    if (mismatch === undefined) return { action: 'bind', volume };
    const message = `Cannot bind to requested volume "${volumeName}": ${mismatch}`;
    return { action: 'wait', note: { type: 'Warning', reason: 'VolumeMismatch', message } };
  }
  if (claim.metadata.annotations?.[BOUND_BY_CONTROLLER] !== undefined) return { action: 'wait' };
  const message = `volume "${volumeName}" already bound to a different claim.`;
  return { action: 'wait', note: { type: 'Warning', reason: 'FailedBinding', message } };
}

function decideUnbound({ claim, classes, volumes }: ClaimView): ClaimDecision {
  const className = storageClassNameOf(claim);
  const storageClass = classes.find(({ metadata }) => metadata.name === className);
  const isDelayed =
    storageClass?.volumeBindingMode === 'WaitForFirstConsumer' &&
    claim.metadata.annotations?.[SELECTED_NODE] === undefined;
  const volume = findVolume(claim, volumes, { isDelayed });
  if (volume) return { action: 'bind', volume };
  if (className === undefined) {
    const byDefault = newestDefault(classes);
    if (byDefault) return { action: 'set-class', className: byDefault.metadata.name };
  }
  if (isDelayed) {
    const message = 'waiting for first consumer to be created before binding';
    return { action: 'wait', note: { type: 'Normal', reason: 'WaitForFirstConsumer', message } };
  }
  if (!className) {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    return { action: 'wait', note: { type: 'Normal', reason: 'FailedBinding', message } };
  }
  return decideProvisioning(className, storageClass);
}

function decideProvisioning(className: string, storageClass: ReadableClass | undefined): ClaimDecision {
  const failed = (message: string): ClaimDecision => ({
    action: 'wait',
    note: { type: 'Warning', reason: 'ProvisioningFailed', message },
  });
  if (!storageClass) return failed(`storageclass.storage.k8s.io "${className}" not found`);
  const { provisioner } = storageClass;
  if (provisioner.startsWith(IN_TREE)) return failed(`no volume plugin matched name: ${provisioner}`);
  return { action: 'provision', provisioner };
}

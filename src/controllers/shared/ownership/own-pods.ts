import type { DeepReadonly, KubernetesObject, LabelSelector, Pod } from '@rollkeeper/machinery/kubernetes';
import { compileLabelSelector, controllerOf, isControlledBy } from '@rollkeeper/machinery/kubernetes';
import type { Kind, KindIndex, ReconcileContext, WatchedKind } from '@rollkeeper/runtime';
import {
  OWNER_UID_INDEX,
  Pod as POD,
  SELECTOR_INDEX,
  findAdopters,
  indexBy,
  selectorIndex,
  watch,
} from '@rollkeeper/runtime';
import { claimChildren } from './claim-children.js';
import { decideClaims, ORPHAN_INDEX, orphanIndex } from './claim-decision.js';
import type { CreateOutcome, DeleteOutcome } from '../pods/pod-control.js';

type ReadablePod = DeepReadonly<Pod>;

/** An object that selects its pods by labels. */
interface PodOwner extends KubernetesObject {
  spec: { selector?: LabelSelector };
}

/** A kind of owners, and how it owns its pods. */
export interface OwnPods<T extends PodOwner> {
  readonly kind: Kind<T>;
  /** See `ChildClaim`. @default none */
  readonly finalizer?: string;
  /** Whether the owner may adopt a selected pod. @default any */
  readonly mayOwn?: (owner: DeepReadonly<T>, pod: ReadablePod) => boolean;
}

/** The indexes needed for {@link claimOwnPods} and {@link watchOrphans}. */
export function ownPodIndexes<T extends PodOwner>({ kind }: OwnPods<T>): readonly KindIndex[] {
  return [
    indexBy(POD, ORPHAN_INDEX, orphanIndex),
    indexBy(kind, SELECTOR_INDEX, (owner) => selectorIndex(owner)),
  ];
}

/** A pod without a controller wakes potential owners. */
export function watchOrphans<T extends PodOwner>({ kind, mayOwn = () => true }: OwnPods<T>): WatchedKind {
  return watch(POD, function* (pod, listerOf) {
    if (controllerOf(pod)) return;
    for (const owner of findAdopters(pod, listerOf(kind))) if (mayOwn(owner, pod)) yield owner.metadata;
  });
}

/** The pods of `owner`, including ended ones, after adopting orphans and releasing others. */
export async function claimOwnPods<T extends PodOwner>(
  { finalizer, kind, mayOwn = () => true }: OwnPods<T>,
  owner: DeepReadonly<T>,
  { client, lister, signal }: Pick<ReconcileContext, 'client' | 'lister' | 'signal'>,
): Promise<readonly ReadablePod[]> {
  const { namespace = '', uid = '' } = owner.metadata;
  const pods = lister(POD);
  const candidates = [
    ...pods.byIndex(OWNER_UID_INDEX, uid).filter((pod) => isControlledBy(pod, owner)),
    ...pods.byIndex(ORPHAN_INDEX, namespace),
  ].filter((pod) => mayOwn(owner, pod));
  const selects = compileLabelSelector(owner.spec.selector);
  const decision = decideClaims({ owner, selects, candidates });
  const claim = { owner, ownerKind: kind, childKind: POD, finalizer, client, signal };
  return [...decision.owned, ...(await claimChildren(claim, decision))];
}

/** Whether the pod exists. */
export function isMade({ kind }: CreateOutcome): boolean {
  return kind === 'created' || kind === 'exists';
}

/** Why some attempts failed, for a retry. */
export function failuresOf(outcomes: readonly (CreateOutcome | DeleteOutcome)[]): unknown[] {
  return outcomes.flatMap((outcome) => {
    if ('error' in outcome) return [outcome.error];
    return outcome.kind === 'taken' ? [new Error(`pods "${outcome.name}" already exists`)] : [];
  });
}

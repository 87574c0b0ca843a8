import { isPodFinished, isPodReady, isTerminating } from '@rollkeeper/machinery/kubernetes';
import { msUntilPodAvailable } from '../shared/index.js';
import type { ReadableClaim } from './decide-claim-owners.js';
import { decideClaimOwners, isStaleClaim } from './decide-claim-owners.js';
import type { ReadablePod, ReadableSet } from './identity.js';
import { decideCorrection, isWanted, ordinalOfName, podName, replicaClaims, revisionOf } from './identity.js';

type Counts = Record<
  'replicas' | 'readyReplicas' | 'availableReplicas' | 'currentReplicas' | 'updatedReplicas',
  number
>;

/** A StatefulSet and its pods as one sync sees them. */
export interface SetView {
  readonly set: ReadableSet;
  readonly pods: readonly ReadablePod[];
  /** The claim of that name, if there is one. */
  readonly claimOf: (name: string) => ReadableClaim | undefined;
  /** Names of revisions: the start and the target of a rollout. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly nowMs: number;
}

/** A step for one replica. */
export type ReplicaStep =
  | { readonly do: 'create'; readonly ordinal: number; readonly revision: string }
  | { readonly do: 'delete'; readonly pod: ReadablePod }
  /** Creates the missing claims of a waiting pod, and corrects their owners. */
  | { readonly do: 'claims'; readonly pod: ReadablePod; readonly ordinal: number }
  /** Corrects the pod's identity and storage, and the owners of its claims. */
  | { readonly do: 'correct'; readonly pod: ReadablePod; readonly ordinal: number }
  /** Corrects the claims' owners of a pod to be deleted. */
  | { readonly do: 'owners'; readonly pod: ReadablePod; readonly ordinal: number };

/** The work of a StatefulSet on its pods now. */
export interface ReplicaDecision {
  /** Executed one phase after another; after a failure the remaining phases wait for the next sync. */
  readonly phases: readonly (readonly ReplicaStep[])[];
  /** Whether the steps of a phase run one by one, or concurrently. */
  readonly isOrdered: boolean;
  readonly counts: Counts;
  /** Delay until the next pod has been ready for `minReadySeconds`. */
  readonly recheckMs?: number;
}

/** A replica, with or without a pod. */
interface Place {
  readonly ordinal: number;
  readonly pod: ReadablePod | undefined;
}

/**
 * The next steps towards the wanted replicas and template. With ordering, a step waits until all earlier replicas are
 * available; `Parallel` creates and deletes replicas at once, and still updates one by one. A set being deleted only
 * counts. Source: `updateStatefulSet` in k/k pkg/controller/statefulset, with the gate `MaxUnavailableStatefulSet` off,
 * as it is by default in 1.36 (kubernetes/kubernetes#137409).
 */
export function decideReplicas(view: SetView): ReplicaDecision {
  const { pods, set } = view;
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  if (set.metadata.deletionTimestamp !== undefined)
    return { phases: [], isOrdered, counts: countReplicas(view, pods), ...recheckOf(view) };
  const places = placesOf(view);
  const condemned = pods
    .filter(({ metadata }) => {
      const ordinal = ordinalOfName(metadata.name);
      return ordinal !== undefined && !isWanted(set, ordinal);
    })
    .sort((a, b) => ordinalIn(b) - ordinalIn(a));
  const counted = [...places.flatMap(({ pod }) => pod ?? []), ...condemned];
  return {
    phases: decidePhases(view, places, condemned, isOrdered),
    isOrdered,
    counts: countReplicas(view, counted),
    ...recheckOf(view),
  };
}

/** If two pods have one ordinal, such as `db-7` and `db-07`, the one with the canonical name counts. */
function placesOf({ pods, set }: SetView): readonly Place[] {
  const first = set.spec.ordinals?.start ?? 0;
  return Array.from({ length: set.spec.replicas ?? 1 }, (_, index): Place => {
    const ordinal = first + index;
    const own = pods.find(({ metadata }) => metadata.name === podName(set, ordinal));
    return { ordinal, pod: own ?? pods.find((pod) => ordinalIn(pod) === ordinal) };
  });
}

function decidePhases(
  view: SetView,
  places: readonly Place[],
  condemned: readonly ReadablePod[],
  isOrdered: boolean,
): readonly (readonly ReplicaStep[])[] {
  const filled = fillPlaces(view, places, isOrdered);
  if (filled.mustWait) return [filled.steps];
  const owners = condemned
    .filter((pod) => hasWrongOwners(view, pod))
    .map((pod): ReplicaStep => ({ do: 'owners', pod, ordinal: ordinalIn(pod) }));
  const removed = removeCondemned(view, places, condemned, isOrdered);
  const phases = [filled.steps, owners, removed.steps];
  return removed.mustWait ? phases : [...phases, updateReplicas(view, places)];
}

interface Steps {
  readonly steps: readonly ReplicaStep[];
  readonly mustWait: boolean;
}

/** From first to last: every replica has a live pod with its identity and its storage. */
function fillPlaces(view: SetView, places: readonly Place[], isOrdered: boolean): Steps {
  const steps: ReplicaStep[] = [];
  for (const place of places) {
    steps.push(...stepsFor(view, place, isOrdered));
    const { pod } = place;
    if (isOrdered && (!pod || isPodFinished(pod) || isUnavailable(pod, view)))
      return { steps, mustWait: true };
  }
  return { steps, mustWait: false };
}

function stepsFor(view: SetView, { ordinal, pod }: Place, isOrdered: boolean): readonly ReplicaStep[] {
  const { claimOf, set } = view;
  if (!pod) {
    const claims = replicaClaims(set, ordinal).flatMap(({ metadata }) => claimOf(metadata.name) ?? []);
    if (claims.some((claim) => isStaleClaim(claim, set, podName(set, ordinal)))) return [];
    return [{ do: 'create', ordinal, revision: revisionFor(view, ordinal) }];
  }
  // Its successor has the same name, so it must be deleted first.
  if (isPodFinished(pod)) return isTerminating(pod) ? [] : [{ do: 'delete', pod }];
  const isPending = pod.status?.phase === 'Pending';
  const isLeftAsItIs = isOrdered && isUnavailable(pod, view);
  const isWrong =
    decideCorrection(set, pod, ordinal) !== undefined || (!isPending && hasWrongOwners(view, pod));
  return [
    ...(isPending ? [{ do: 'claims' as const, pod, ordinal }] : []),
    ...(isWrong && !isLeftAsItIs ? [{ do: 'correct' as const, pod, ordinal }] : []),
  ];
}

function hasWrongOwners({ claimOf, set }: SetView, pod: ReadablePod): boolean {
  return replicaClaims(set, ordinalIn(pod)).some(({ metadata }) => {
    const claim = claimOf(metadata.name);
    return claim !== undefined && decideClaimOwners(claim, set, pod).owners !== undefined;
  });
}

/** The revision of a new pod: below the partition of a rollout it is the old one. */
function revisionFor({ currentRevision, set, updateRevision }: SetView, ordinal: number): string {
  const { rollingUpdate, type } = set.spec.updateStrategy ?? {};
  const first = set.spec.ordinals?.start ?? 0;
  const old = rollingUpdate
    ? (rollingUpdate.partition ?? 0)
    : type === 'RollingUpdate'
      ? (set.status?.currentReplicas ?? 0)
      : 0;
  return ordinal < first + old ? currentRevision : updateRevision;
}

/** From last to first. With ordering, an unavailable one blocks the others, unless it is the first such. */
function removeCondemned(
  view: SetView,
  places: readonly Place[],
  condemned: readonly ReadablePod[],
  isOrdered: boolean,
): Steps {
  const removal = (pod: ReadablePod): ReplicaStep => ({ do: 'delete', pod });
  if (!isOrdered)
    return { steps: condemned.filter((pod) => !isTerminating(pod)).map(removal), mustWait: false };
  const [last] = condemned;
  if (!last) return { steps: [], mustWait: false };
  const inOrder = [...places.map(({ pod }) => pod), ...condemned.toReversed()];
  const firstUnavailable = inOrder.find((pod) => !pod || isUnavailable(pod, view));
  const mayGo = !isTerminating(last) && (!isUnavailable(last, view) || last === firstUnavailable);
  return { steps: mayGo ? [removal(last)] : [], mustWait: true };
}

/** The highest one that is not both new and available decides: it is deleted, or awaited. */
function updateReplicas(view: SetView, places: readonly Place[]): readonly ReplicaStep[] {
  const { set, updateRevision } = view;
  const { rollingUpdate = {}, type } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  for (const { pod } of places.slice(rollingUpdate.partition ?? 0).toReversed()) {
    if (!pod || isPodFinished(pod)) return [];
    if (revisionOf(pod) !== updateRevision && !isTerminating(pod)) return [{ do: 'delete', pod }];
    if (isUnavailable(pod, view)) return [];
  }
  return [];
}

function countReplicas(view: SetView, pods: readonly ReadablePod[]): Counts {
  const { currentRevision, nowMs, set, updateRevision } = view;
  const ready = pods.filter(isRunningAndReady);
  const living = pods.filter((pod) => !isTerminating(pod));
  const { minReadySeconds = 0 } = set.spec;
  return {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => msUntilPodAvailable(pod, minReadySeconds, nowMs) === 0).length,
    currentReplicas: living.filter((pod) => revisionOf(pod) === currentRevision).length,
    updatedReplicas: living.filter((pod) => revisionOf(pod) === updateRevision).length,
  };
}

function recheckOf({ nowMs, pods, set }: SetView): { recheckMs?: number } {
  const { minReadySeconds = 0 } = set.spec;
  const waits = pods
    .map((pod) => msUntilPodAvailable(pod, minReadySeconds, nowMs) ?? 0)
    .filter((wait) => wait > 0);
  return waits.length > 0 ? { recheckMs: Math.min(...waits) } : {};
}

function ordinalIn({ metadata }: ReadablePod): number {
  return ordinalOfName(metadata.name) ?? -1;
}

function isRunningAndReady(pod: ReadablePod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

/** A pod is unavailable if it does not run, has not been ready for long enough, or terminates. */
function isUnavailable(pod: ReadablePod, { nowMs, set }: SetView): boolean {
  if (isTerminating(pod) || !isRunningAndReady(pod)) return true;
  return msUntilPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs) !== 0;
}

import { isPodFinished, isPodReady } from '../../base/kubernetes/index.js';
import type { StatefulSet } from '../../kit/index.js';
import { msUntilPodAvailable, scaledValue } from '../shared/index.js';
import type { ReadablePod, ReadableSet } from './identity.js';
import { ordinalOf, revisionOf } from './identity.js';

type Counts = Pick<
  NonNullable<StatefulSet['status']>,
  'replicas' | 'readyReplicas' | 'availableReplicas' | 'currentReplicas' | 'updatedReplicas'
>;

/** A StatefulSet and its pods as one sync sees them. */
export interface SetView {
  readonly set: ReadableSet;
  readonly pods: readonly ReadablePod[];
  /** Names of revisions: what a rollout began from, and where it goes. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly nowMs: number;
}

/** What a StatefulSet does with its pods now. */
export interface ReplicaDecision {
  /** Ordinals to make a pod for, and by which revision. */
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly delete: readonly ReadablePod[];
  /** Ended pods among those to be deleted, in place of which others will be made. */
  readonly ended: readonly ReadablePod[];
  /** Beyond the number of replicas. */
  readonly condemned: readonly ReadablePod[];
  readonly counts: Counts;
  /** When the next pod has been ready for `minReadySeconds`. */
  readonly recheckMs?: number;
}

/** A replica, or the place of one. */
interface Place {
  readonly ordinal: number;
  readonly pod: ReadablePod | undefined;
}

/**
 * The next steps towards the replicas that are wanted, each of the template that is wanted. In order, a step waits until all that
 * come before it are ready; `Parallel` takes those that create and remove replicas at once, and updates still one by one.
 * Source: `updateStatefulSet` in k/k pkg/controller/statefulset.
 */
export function decideReplicas(view: SetView): ReplicaDecision {
  const { pods, set } = view;
  const first = set.spec.ordinals?.start ?? 0;
  const replicas = set.spec.replicas ?? 1;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const places = Array.from({ length: replicas }, (_, index): Place => {
    const ordinal = first + index;
    return { ordinal, pod: byOrdinal.get(ordinal) };
  });
  const condemned = pods
    .filter((pod) => !isWanted(ordinalOf(set, pod) ?? first, first, replicas))
    .sort((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
  return {
    ...decideSteps(view, places, condemned),
    condemned,
    counts: countReplicas(view),
    ...recheckOf(view),
  };
}

type Steps = Pick<ReplicaDecision, 'create' | 'delete' | 'ended'>;

function decideSteps(view: SetView, places: readonly Place[], condemned: readonly ReadablePod[]): Steps {
  const isOrdered = view.set.spec.podManagementPolicy !== 'Parallel';
  const filled = fillPlaces(view, places, isOrdered);
  if (filled.mustWait) return filled.steps;
  const removed = removeCondemned(view, places, condemned, isOrdered);
  const { create, delete: ended } = filled.steps;
  const steps = { ...filled.steps, delete: [...ended, ...removed.delete] };
  if (removed.mustWait) return steps;
  // Whoever is missing or going is not to be looked at as a replica of the old revision.
  const isBusy = create.length + ended.length > 0;
  return isBusy ? steps : { ...steps, delete: [...steps.delete, ...updateReplicas(view, places)] };
}

/** From the first to the last: every place has a pod that lives. */
function fillPlaces(view: SetView, places: readonly Place[], isOrdered: boolean) {
  const create: { ordinal: number; revision: string }[] = [];
  const ended: ReadablePod[] = [];
  const result = (mustWait: boolean) => ({ steps: { create, delete: ended, ended }, mustWait });
  for (const { ordinal, pod } of places) {
    if (!pod) create.push({ ordinal, revision: revisionFor(view, ordinal) });
    // Its successor takes its name, so it must be gone first.
    else if (isPodFinished(pod) && !isTerminating(pod)) ended.push(pod);
    if (isOrdered && (!pod || !isAvailable(pod, view) || isTerminating(pod))) return result(true);
  }
  return result(false);
}

/** Which revision a new pod is of: below the partition of a rollout it goes on with the old one. */
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

/** From the last to the first. In order, one that is not ready keeps the others, unless it is the first of the unhealthy ones. */
function removeCondemned(
  view: SetView,
  places: readonly Place[],
  condemned: readonly ReadablePod[],
  isOrdered: boolean,
) {
  if (!isOrdered) return { delete: condemned.filter((pod) => !isTerminating(pod)), mustWait: false };
  const [last] = condemned;
  if (!last) return { delete: [], mustWait: false };
  const inOrder = [...places.map(({ pod }) => pod), ...condemned.toReversed()];
  const firstUnhealthy = inOrder.find((pod) => !pod || !isHealthy(pod));
  const mayGo = !isTerminating(last) && (isAvailable(last, view) || last === firstUnhealthy);
  return { delete: mayGo ? [last] : [], mustWait: true };
}

/** Pods of another revision go, from the last to the first and never so many at once that too few are left. */
function updateReplicas(view: SetView, places: readonly Place[]): readonly ReadablePod[] {
  const { set, updateRevision } = view;
  const { rollingUpdate = {}, type } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  const { maxUnavailable, partition = 0 } = rollingUpdate;
  const highestFirst = places.flatMap(({ pod }) => pod ?? []).reverse();
  const candidates = highestFirst.slice(0, Math.max(places.length - partition, 0));
  const isOld = (pod: ReadablePod): boolean => revisionOf(pod) !== updateRevision && !isTerminating(pod);
  if (maxUnavailable === undefined) {
    // The highest that is not both of the new revision and healthy decides: it goes, or is waited for.
    const next = candidates.find((pod) => isOld(pod) || !isHealthy(pod));
    return next && isOld(next) ? [next] : [];
  }
  const allowed = Math.max(scaledValue(maxUnavailable, places.length, Math.floor, 'maxUnavailable'), 1);
  const unavailable = highestFirst.filter((pod) => !isHealthy(pod) || !isAvailable(pod, view)).length;
  return candidates.filter(isOld).slice(0, Math.max(allowed - unavailable, 0));
}

function countReplicas({ currentRevision, nowMs, pods, set, updateRevision }: SetView): Counts {
  const { minReadySeconds = 0 } = set.spec;
  const ready = pods.filter(isRunningAndReady);
  const living = pods.filter((pod) => !isTerminating(pod));
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

function isWanted(ordinal: number, first: number, replicas: number): boolean {
  return ordinal >= first && ordinal < first + replicas;
}

function isRunningAndReady(pod: ReadablePod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

function isAvailable(pod: ReadablePod, { nowMs, set }: SetView): boolean {
  return isRunningAndReady(pod) && msUntilPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs) === 0;
}

function isTerminating({ metadata }: ReadablePod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isHealthy(pod: ReadablePod): boolean {
  return isRunningAndReady(pod) && !isTerminating(pod);
}

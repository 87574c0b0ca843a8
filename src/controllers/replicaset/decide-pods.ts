import { counted } from '@rollkeeper/machinery/text';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Decision, Lister } from '@rollkeeper/runtime';
import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { DoomedPod, MarkedPod, NodeLabels } from '../shared/index.js';
import {
  awaitsCopies,
  choosePodNames,
  countAttributes,
  decideFailedPods,
  decideMarks,
  failedPodsRule,
  podNamePrefix,
  podsToDelete,
  readFirstToGo,
  readZoneFirst,
  zoneOf,
  replacesAfterEnd,
  spreadsOf,
} from '../shared/index.js';
import type { PodIntents } from './pod-intents.js';
import type { FailureSeries } from './failure-series.js';
import { creationsHeldMs, decideFailureSeries, seriesToStore } from './failure-series.js';
import { relatedPods } from './related-pods.js';
import type { CompiledReplicaSetControllerOptions } from './replicaset.options.js';

type ReadablePod = DeepReadonly<Pod>;

export interface PodDecisionDependencies {
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly options: CompiledReplicaSetControllerOptions;
  /** @default not watched */
  readonly nodes?: NodeLabels;
}

/** The combined view of API server and cache, once stored intents are resolved. */
export interface Situation {
  /** Every pod controlled by the ReplicaSet, in any state. */
  readonly controlled: readonly ReadablePod[];
  readonly intents: PodIntents;
  readonly active: readonly ReadablePod[];
  /** Controlled, being deleted and not ended. */
  readonly terminating: readonly ReadablePod[];
  readonly pendingDeletes: readonly DoomedPod[];
  /** Stored names without a pod: the first to be reused, so that a creation which is late can make no second pod. */
  readonly freeNames: readonly string[];
  /** The API server's answer changed the stored intents. */
  readonly corrected: boolean;
}

/** The action on the pods. */
export interface PodPlan {
  readonly creates: readonly string[];
  readonly deletes: readonly DoomedPod[];
  /** Failed pods that are not kept: they count nowhere, so that their deletion needs no intent. */
  readonly removes: readonly DoomedPod[];
  /** Live pods that get other labels or annotations, without a restart. */
  readonly marks: readonly MarkedPod[];
  readonly intents: PodIntents;
  readonly mustStore: boolean;
}

/** The complete decision about the pods. */
export interface DecidedPods {
  readonly plan: PodPlan;
  /** Pods die before they are ready. */
  readonly failures?: FailureSeries;
  /** Creations are delayed for this long because of that, milliseconds. */
  readonly heldMs?: number;
  /** When the next failed pod becomes too old, milliseconds. @default none will */
  readonly nextRemovalMs?: number;
  /** For the trace, the log and `explain`. */
  readonly decision: Decision;
}

/** Delay before the rest of the failed pods is removed, if they are more than a burst. */
const NEXT_BURST_MS = 1000;

/** Decides which pods to create and to delete. Pure except for the names, which are random. */
export function decidePods(
  replicaSet: DeepReadonly<ReplicaSet>,
  situation: Situation,
  dependencies: PodDecisionDependencies,
): DecidedPods {
  const { active, controlled, freeNames, pendingDeletes } = situation;
  const { clock, options } = dependencies;
  const desired = desiredReplicas(replicaSet);
  const running = active.length;
  const ending = replacesAfterEnd(replicaSet) ? countEnding(situation) : 0;
  const missing = desired - running - ending;
  const nowMs = clock.now();
  const { failures: stored } = situation.intents;
  const failures = decideFailureSeries({ pods: controlled, stored, nowMs, options });
  const heldMs = creationsHeldMs(failures, missing, nowMs);
  const count = decidePodCount({ active: running, ending, desired, burst: options.burstReplicas });
  const isHeld = heldMs !== undefined || awaitsCopies(replicaSet);
  const creates = newPodNames({ replicaSet, count: isHeld ? 0 : count.create, freeNames }, dependencies);
  const victims = chooseVictims(replicaSet, active, count.delete, dependencies);
  const deletes = [...pendingDeletes, ...victims];
  const { excess, nextInMs } = decideFailedPods(controlled, failedPodsRule(replicaSet), nowMs);
  const removes = excess.slice(0, options.burstReplicas).map(doom);
  // One that wants no pods creates none, and leaves nothing behind.
  const toStore = { creates: creates.length, isHeld, nowMs, options, stored };
  const kept = desired === 0 ? undefined : seriesToStore(failures, toStore);
  const goes = new Set(deletes.map(({ name }) => name));
  const plan = {
    creates,
    deletes,
    removes,
    marks: decideMarks(replicaSet, active).filter(({ name }) => !goes.has(name)),
    intents: { ...situation.intents, creates, deletes, failures: kept },
    mustStore:
      creates.length > 0 || victims.length > 0 || situation.corrected || !sameJson(kept ?? {}, stored ?? {}),
  };
  const decision = describeDecision(replicaSet, { ...situation, ...plan, heldBack: heldMs !== undefined });
  const nextRemovalMs = removes.length < excess.length ? NEXT_BURST_MS : nextInMs;
  return { plan, failures, heldMs, nextRemovalMs, decision };
}

/** How many pods one sync creates or deletes; never both. */
interface PodCountDecision {
  readonly create: number;
  readonly delete: number;
}

/** Counts the pods that the cache shows as ending, and the ones whose deletion it does not show yet. */
function countEnding({ pendingDeletes, terminating }: Situation): number {
  const uids = [...terminating.map(({ metadata }) => metadata.uid), ...pendingDeletes.map(({ uid }) => uid)];
  return new Set(uids).size;
}

/** The step from `active` pods towards `desired`, at most `burst` at once. */
function decidePodCount(input: {
  readonly active: number;
  /** Pods that are ending, where their replacements wait for that. @default 0 */
  readonly ending?: number;
  readonly desired: number;
  readonly burst: number;
}): PodCountDecision {
  const missing = input.desired - input.active;
  return {
    create: Math.min(Math.max(missing - (input.ending ?? 0), 0), input.burst),
    delete: Math.min(Math.max(-missing, 0), input.burst),
  };
}

interface NewNames {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly count: number;
  /** Used first. @default none */
  readonly freeNames?: readonly string[];
  /** In addition to those of the cached pods. @default none */
  readonly alsoTaken?: ReadonlySet<string>;
}

/** Names for new pods, not in the cache. */
export function newPodNames(
  { alsoTaken, count, freeNames = [], replicaSet }: NewNames,
  { pods, random }: Pick<PodDecisionDependencies, 'pods' | 'random'>,
): string[] {
  const { name: replicaSetName, namespace } = replicaSet.metadata;
  const prefix = podNamePrefix(replicaSetName);
  const reused = freeNames.slice(0, count);
  const isTaken = (name: string): boolean =>
    reused.includes(name) ||
    alsoTaken?.has(name) === true ||
    pods.get(keyOf({ namespace, name })) !== undefined;
  return [...reused, ...choosePodNames({ prefix, count: count - reused.length, isTaken, random })];
}

export function desiredReplicas(replicaSet: DeepReadonly<ReplicaSet>): number {
  return replicaSet.spec.replicas ?? 1;
}

function chooseVictims(
  replicaSet: DeepReadonly<ReplicaSet>,
  active: readonly ReadablePod[],
  count: number,
  { clock, nodes, pods, replicaSets }: PodDecisionDependencies,
): DoomedPod[] {
  if (count === 0) return [];
  const related = count < active.length ? relatedPods(replicaSet, replicaSets, pods) : [];
  const first = readFirstToGo(replicaSet, desiredReplicas(replicaSet));
  const zone = nodes && readZoneFirst(replicaSet);
  const goesFirst = nodes && zone && ((pod: ReadablePod) => zoneOf(pod, zone.label, nodes) === zone.value);
  const spreads = spreadsOf(replicaSet, related.length > 0 ? related : active, nodes);
  return podsToDelete({ pods: active, related, first, count, goesFirst, spreads, nowMs: clock.now() }).map(
    doom,
  );
}

function doom({ metadata }: ReadablePod): DoomedPod {
  return { uid: metadata.uid ?? '', name: metadata.name };
}

interface Described {
  readonly active: readonly unknown[];
  /** Stored names of which the API server has no pod. */
  readonly freeNames: readonly unknown[];
  readonly pendingDeletes: readonly unknown[];
  readonly creates: readonly unknown[];
  /** Including those of intents. */
  readonly deletes: readonly unknown[];
  readonly removes: readonly unknown[];
  readonly marks: readonly unknown[];
  /** Too many pods died before they were ready. */
  readonly heldBack: boolean;
}

/** A sync's decision about a ReplicaSet's pods and its inputs, for people. */
export function describeDecision(replicaSet: DeepReadonly<ReplicaSet>, decided: Described): Decision {
  const { active, creates, deletes, freeNames, marks, pendingDeletes, removes } = decided;
  const parts = [
    ...(creates.length > 0 ? [`create ${counted(creates.length, 'pod')}`] : []),
    ...(deletes.length > 0 ? [`delete ${counted(deletes.length, 'pod')}`] : []),
    ...(removes.length > 0 ? [`remove ${counted(removes.length, 'failed pod')}`] : []),
    ...(marks.length > 0 ? [`mark ${counted(marks.length, 'pod')}`] : []),
  ];
  return {
    branch: branchOf(decided),
    summary: parts.length > 0 ? `${replicaSet.metadata.name}: ${parts.join(', ')}` : '',
    // Deletions that only wait for the cache were reported when they were decided.
    changes:
      creates.length > 0 || deletes.length > pendingDeletes.length || removes.length > 0 || marks.length > 0,
    inputs: {
      'rollkeeper.replicas': replicaSet.spec.replicas ?? 1,
      'rollkeeper.pods.active': active.length,
      ...countAttributes({
        'rollkeeper.pods.create': creates,
        'rollkeeper.pods.delete': deletes,
        'rollkeeper.pods.remove_failed': removes,
        'rollkeeper.pods.mark': marks,
        'rollkeeper.intents.create': freeNames,
        'rollkeeper.intents.delete': pendingDeletes,
      }),
    },
  };
}

function branchOf({ creates, deletes, heldBack, marks, removes }: Described): string {
  if (heldBack) return 'hold-creations';
  if (creates.length > 0) return 'create-pods';
  if (deletes.length > 0) return 'delete-pods';
  if (removes.length > 0) return 'remove-failed-pods';
  return marks.length > 0 ? 'mark-pods' : 'rest';
}

import type { ReplicaSetDraft, Standing } from '@rollkeeper/controllers/deployment';
import {
  annotationOf,
  foreseePass,
  hasProgressDeadline,
  isRolledOut,
  isRollingUpdate,
  maxSurge,
  maxTotalReplicas,
  maxUnavailable,
  minAvailable,
  placeInQueue,
  replicasOf,
} from '@rollkeeper/controllers/deployment';
import type { ClassifiedPod } from '@rollkeeper/controllers/shared';
import { byPodName, classifyPod, parseTimeMs } from '@rollkeeper/controllers/shared';
import type { EventNote } from '@rollkeeper/client/events';
import type { DeepReadonly, Deployment, Pod } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, findCondition } from '@rollkeeper/machinery/kubernetes';
import type { ExplainInput } from './explain-input.js';
import type { DeadlineView, Limits } from './explanation.js';

/** A ReplicaSet with its pods, now and after the next sync. */
export interface ReplicaSetFacts {
  readonly name: string;
  readonly role: 'new' | 'old';
  readonly draft: ReplicaSetDraft;
  readonly size: number;
  readonly nextSize: number;
  readonly available: number;
  readonly ready: number;
  /** By name. */
  readonly pods: readonly ClassifiedPod[];
}

/** The facts behind an explanation: the observed rollout, and what the controller itself would decide now. */
export interface RolloutFacts {
  readonly limits: Limits;
  readonly rolling: boolean;
  /** Newest last; includes the new one, if it exists. */
  readonly replicaSets: readonly ReplicaSetFacts[];
  readonly latest?: ReplicaSetFacts;
  readonly old: readonly ReplicaSetFacts[];
  /** Names of ReplicaSets that the next sync would create or resize. */
  readonly nextWrites: readonly string[];
  /** The name of the one that it would create. */
  readonly nextCreation?: string;
  /** The Events that it would record. */
  readonly notes: readonly EventNote[];
  /** Why the policies do not let it simply continue. */
  readonly standing?: Standing;
  readonly counts: { readonly total: number; updated: number; ready: number; available: number };
  readonly deadline?: DeadlineView;
}

/** Runs the real decision on the observed objects. The Deployment must be valid. */
export function collectFacts(input: ExplainInput): RolloutFacts {
  const { deployment, nowMs } = input;
  const { spec } = deployment;
  const pods = podsByOwner(input);
  const limits = limitsOf(deployment);
  const next = foreseePass(input);
  const facts = next.replicaSets
    .filter(({ observed }) => observed !== undefined)
    .map((set) => factsOf(set, set.name === next.latest ? 'new' : 'old', pods, input));
  const latest = facts.find(({ role }) => role === 'new');
  return {
    limits,
    rolling: isRollingUpdate(spec),
    replicaSets: facts,
    latest,
    old: facts.filter(({ role }) => role === 'old'),
    nextWrites: next.replicaSets.flatMap(nextWrite),
    nextCreation: next.replicaSets.find(({ deleted, observed }) => !observed && !deleted)?.name,
    notes: next.notes,
    standing: withPlace(next.standing, input),
    counts: {
      total: sum(facts, ({ draft: { status } }) => status.replicas ?? 0),
      updated: latest?.draft.status.replicas ?? 0,
      ready: sum(facts, ({ ready }) => ready),
      available: sum(facts, ({ available }) => available),
    },
    deadline: deadlineOf(deployment, nowMs, next.isWaiting),
  };
}

/** How many are before a rollout that waits for its turn, and behind whom it is. */
function withPlace(standing: Standing | undefined, input: ExplainInput): Standing | undefined {
  const { deployment, namespaceAnnotations, queuedRollouts } = input;
  if (standing?.code !== 'waits-for-turn' || !queuedRollouts) return standing;
  const { name, namespace = '' } = deployment.metadata;
  const isShared = namespaceAnnotations?.[annotationOf('max-rollouts')] === undefined;
  const { behind, waitingBefore } = placeInQueue({ name, namespace }, queuedRollouts, isShared);
  const others = `${waitingBefore} ${waitingBefore === 1 ? 'other waits' : 'others wait'} before it`;
  const last = behind === undefined ? '' : `, and it follows ${behind}`;
  return { ...standing, sentence: `${standing.sentence}; ${others}${last}` };
}

export function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function limitsOf({ spec }: DeepReadonly<Deployment>): Limits {
  return {
    replicas: replicasOf(spec),
    strategy: spec.strategy?.type ?? 'RollingUpdate',
    floor: isRollingUpdate(spec) ? minAvailable(spec) : 0,
    ceiling: maxTotalReplicas(spec),
    maxSurge: maxSurge(spec),
    maxUnavailable: maxUnavailable(spec),
    minReadySeconds: spec.minReadySeconds ?? 0,
  };
}

function podsByOwner({ pods }: ExplainInput): ReadonlyMap<string, readonly DeepReadonly<Pod>[]> {
  return Map.groupBy(pods, (pod) => controllerOf(pod)?.uid ?? '');
}

function factsOf(
  draft: ReplicaSetDraft,
  role: 'new' | 'old',
  pods: ReadonlyMap<string, readonly DeepReadonly<Pod>[]>,
  { nowMs }: ExplainInput,
): ReplicaSetFacts {
  const { observed, status } = draft;
  const seconds = observed?.spec.minReadySeconds ?? 0;
  return {
    name: draft.name,
    role,
    draft,
    size: observed?.spec.replicas ?? 1,
    nextSize: draft.deleted ? 0 : draft.replicas,
    available: status.availableReplicas ?? 0,
    ready: status.readyReplicas ?? 0,
    pods: (pods.get(observed?.metadata.uid ?? '') ?? [])
      .map((pod) => classifyPod(pod, seconds, nowMs))
      .sort(byPodName),
  };
}

function nextWrite({ deleted, name, observed, replicas }: ReplicaSetDraft): string[] {
  if (deleted) return [];
  if (!observed) return [`create ${name} with ${replicas}`];
  const size = observed.spec.replicas ?? 1;
  return size === replicas ? [] : [`scale ${name} from ${size} to ${replicas}`];
}

function deadlineOf(
  { spec, status }: DeepReadonly<Deployment>,
  nowMs: number,
  isWaiting: boolean,
): DeadlineView | undefined {
  if (!hasProgressDeadline(spec)) return undefined;
  const seconds = spec.progressDeadlineSeconds ?? 0;
  const condition = findCondition(status?.conditions, 'Progressing');
  const exceeded = condition?.reason === 'ProgressDeadlineExceeded';
  const sinceMs = parseTimeMs(condition?.lastUpdateTime);
  if (isRolledOut(condition?.reason) || isWaiting || spec.paused || sinceMs === undefined)
    return { seconds, exceeded };
  return { seconds, exceeded, remainingSeconds: Math.round((sinceMs + seconds * 1000 - nowMs) / 1000) };
}

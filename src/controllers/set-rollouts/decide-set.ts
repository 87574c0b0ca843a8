import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, NameTrust, Pod, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { EventNote } from '@rollkeeper/runtime';
import type {
  CheckNeeds,
  ChecksContext,
  PolicyOutcome,
  Problem,
  ReplicaSetDraft,
} from '../deployment/index.js';
import {
  OWN_RULES,
  POLICY_PREFIX,
  REVISION,
  RolloutDraft,
  SET_ROLLOUT,
  decideRollout,
  hashOf,
  isGood,
  latestOf,
  parseSteps,
  progressCheckAfterMs,
  readFailures,
} from '../deployment/index.js';
import type { SetRollout } from './as-rollout.js';
import { annotationsToKeep, asRollout } from './as-rollout.js';
import { readKeptState, renderKeptState } from './kept-state.js';
import type { ReadableRevision, SetView } from './set-view.js';

type Refusal = (setting: string, text: string) => string | undefined;

/** The settings that can be followed for a set. The others lead requests, or size ReplicaSets, which a set has none of. */
const FOLLOWED: ReadonlySet<string> = new Set([
  'on-failure',
  'fail-after',
  'max-failed-pods',
  'failure-causes',
  'bake-time',
  'max-restarts',
  'steps',
  'fast-track',
  'checks',
  'checks-from',
  'window',
  'freeze',
  'history',
  'progress-after',
]);

const STEPS = new Set(['size', 'wait', 'approve', 'check']);

/**
 * Why a setting cannot be followed for a set.
 * @param kind `StatefulSet` or `DaemonSet`
 * @param strategy why none can, because of the set's update strategy. @default they can
 */
function refusalsOf(kind: string, strategy?: string): Refusal {
  return (setting, text) => {
    if (!FOLLOWED.has(setting)) return `cannot be followed for a ${kind}`;
    if (strategy !== undefined) return strategy;
    if (kind === 'DaemonSet' && setting === 'on-failure' && text === 'hold')
      return 'cannot be hold for a DaemonSet: its pods come back from the template that it has';
    if (setting === 'history' && text !== 'on' && text !== 'off')
      return `is neither on nor off: the history of a ${kind} lasts as long as its revisions`;
    return setting === 'steps' ? refusedStep(text, kind) : undefined;
  };
}

function refusedStep(text: string, kind: string): string | undefined {
  const parsed = parseSteps(text);
  if ('problem' in parsed) return undefined;
  const refused = parsed.steps.find((step) => !STEPS.has(step.kind));
  return refused && `has a step "${refused.kind}", which cannot be followed for a ${kind}`;
}

type Annotations = Readonly<Record<string, string>>;
/** Undefined takes an annotation away. */
export type AnnotationChanges = Readonly<Record<string, string | undefined>>;

/** The knowledge of a pass besides the set. */
export interface SetContext {
  readonly nowMs: number;
  readonly namespaceAnnotations?: Annotations;
  /** @default their recorded results alone */
  readonly checks?: ChecksContext;
  readonly names?: NameTrust;
  readonly templateManager?: string;
  /** Why no setting can be followed, because of the update strategy. @default they can */
  readonly strategyProblem?: string;
  /** @default none */
  readonly problem?: Problem;
  /** The value of the field that is moved, before it is first moved. JSON. */
  readonly original: string;
}

/** The decisions of the policies on a set. */
export interface DecidedSet {
  /** The revision that runs, by name: the update, or the one that runs in its place. */
  readonly runs: string;
  /** How many pods of it there may be. */
  readonly most: number;
  /** The names of the revisions that have failed, and do not run. */
  readonly failed: ReadonlySet<string>;
  /** The names of the revisions that have proved good. */
  readonly good: ReadonlySet<string>;
  readonly revisionChanges: readonly {
    readonly revision: ReadableRevision;
    readonly changes: AnnotationChanges;
  }[];
  readonly setChanges: AnnotationChanges;
  /** The template of a rollback. */
  readonly template?: DeepReadonly<PodTemplateSpec>;
  readonly notes: readonly EventNote[];
  readonly checks?: CheckNeeds;
  readonly recheckAfterMs?: number;
  readonly outcome?: PolicyOutcome;
}

/**
 * Decides a pass over a set, purely: its revisions and pods are seen as the ReplicaSets and pods of a Deployment, and the same
 * policies choose the version that runs and how far it goes. The sizes that the steps would give to ReplicaSets are not used.
 */
export function decideSet(view: SetView, context: SetContext): DecidedSet {
  const rollout = asRollout(view);
  const draft = draftOf(view, rollout, context);
  const { outcome } = decideRollout(draft, {
    podsOf: podsOf(rollout),
    rules: OWN_RULES,
    refuses: refusalsOf(view.kind, context.strategyProblem),
    ...(context.problem && { problem: context.problem }),
    ...(context.namespaceAnnotations && { namespaceAnnotations: context.namespaceAnnotations }),
    ...(context.checks && { checks: context.checks }),
  });
  const runs = runningIn(draft, view);
  const restored = draft.spec.template === view.set.spec.template ? undefined : draft.spec.template;
  return {
    runs,
    most: Math.min(draft.replicas, draft.limits.most ?? Infinity),
    failed: failedIn(draft, runs),
    good: new Set(draft.living.filter(isGood).map(({ name }) => name)),
    revisionChanges: changesOfRevisions(draft, view),
    setChanges: changesOfSet(draft, view, context),
    ...(restored && { template: restored }),
    notes: draft.notes,
    ...(outcome?.checks && { checks: outcome.checks }),
    recheckAfterMs: recheckAfterMs(draft, outcome, view),
    ...(outcome && { outcome }),
  };
}

function draftOf(view: SetView, { deployment, replicaSets }: SetRollout, context: SetContext): RolloutDraft {
  const update = view.revisions.find(({ metadata }) => metadata.name === view.update);
  const { names, nowMs, templateManager } = context;
  return new RolloutDraft({
    deployment,
    owned: replicaSets,
    adopted: [],
    now: toRfc3339(nowMs),
    nowMs,
    leastRevision: BigInt(update?.revision ?? 0),
    ...(names && { names }),
    ...(templateManager !== undefined && { templateManager }),
  });
}

function podsOf({ pods }: SetRollout): (set: ReplicaSetDraft) => readonly DeepReadonly<Pod>[] {
  const byRevision = Map.groupBy(pods, ({ metadata }) => metadata.ownerReferences?.[0]?.name ?? '');
  return ({ name }) => byRevision.get(name) ?? [];
}

/** A template that was put back is the update only once the set's controller says so. */
function runningIn(draft: RolloutDraft, view: SetView): string {
  if (draft.runsInstead) return draft.runsInstead.name;
  if (draft.spec.template === view.set.spec.template) return view.update;
  return latestOf(draft, draft.living)?.name ?? view.update;
}

function failedIn(draft: RolloutDraft, runs: string): ReadonlySet<string> {
  const failed = new Set(
    readFailures(draft.annotations).flatMap(({ stopped, template }) => (stopped ? [] : [template])),
  );
  const names = draft.living
    .filter(({ template }) => failed.has(hashOf(draft, template)))
    .map(({ name }) => name);
  return new Set(names.filter((name) => name !== runs));
}

/** The notes of the draft on ReplicaSets, as changes of ControllerRevisions. One that it creates is the update, which begins. */
function changesOfRevisions(draft: RolloutDraft, view: SetView): DecidedSet['revisionChanges'] {
  return draft.living.flatMap((set) => {
    const name = set.observed ? set.name : view.update;
    const revision = view.revisions.find(({ metadata }) => metadata.name === name);
    const changes = differences(revision?.metadata.annotations ?? {}, annotationsToKeep(set.annotations));
    return revision && Object.keys(changes).length > 0 ? [{ revision, changes }] : [];
  });
}

function changesOfSet(draft: RolloutDraft, { set }: SetView, { original }: SetContext): AnnotationChanges {
  const { [REVISION]: revision, ...now } = draft.annotations;
  const { [SET_ROLLOUT]: before, ...was } = set.metadata.annotations ?? {};
  const kept = readKeptState(set.metadata);
  const { uid } = set.metadata;
  const state = {
    ...(uid !== undefined && { uid }),
    original: kept.original ?? original,
    status: draft.status,
    ...(revision !== undefined && { revision }),
  };
  const text = renderKeptState(state);
  const own = Object.entries(differences(was, now)).filter(([name]) => name.startsWith(POLICY_PREFIX));
  return { ...Object.fromEntries(own), ...(text !== before && { [SET_ROLLOUT]: text }) };
}

/** The changes that lead from one to the other. */
export function differences(before: Annotations, after: Annotations): AnnotationChanges {
  if (semanticEqual(before, after)) return {};
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names].filter((name) => before[name] !== after[name]).map((name) => [name, after[name]]),
  );
}

/**
 * No deadline runs while a policy waits. The set's own controller says when a pod has been ready for `minReadySeconds`, but by its own clock,
 * which may be ahead.
 */
function recheckAfterMs(
  draft: RolloutDraft,
  outcome: PolicyOutcome | undefined,
  { pods }: SetView,
): number | undefined {
  const times = [
    outcome?.recheckAfterMs,
    outcome?.isWaiting ? undefined : progressCheckAfterMs(draft),
    ...pods.map(({ availableInMs }) => availableInMs),
  ];
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

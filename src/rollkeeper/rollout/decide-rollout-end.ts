import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import type { FailedTemplate, ReplicaSetDraft } from '@rollkeeper/controllers/deployment';
import {
  CHECK_FAILED,
  POLICY_CONDITION,
  PROGRESS_DEADLINE_EXCEEDED,
  RETRY,
  ROLLED_BACK,
  ROLLOUT_HELD,
  RolloutDraft,
  WAITING_FOR_APPROVAL,
  RESIZING_PODS,
  WAITING_FOR_TERMINATION,
  WAITING_FOR_BUDGET,
  WAITING_FOR_TURN,
  WAITING_FOR_CHECK,
  WAITING_IN_STEP,
  compilePolicy,
  completeSinceMs,
  failureSentence,
  findCondition,
  isGood,
  isRolledOut,
  isRollingUpdate,
  latestOf,
  mayBecomeGood,
  minAvailable,
  needsGoodRevisions,
  readFailures,
  replicasOf,
  templateHashOf,
} from '@rollkeeper/controllers/deployment';
import { parseTimeMs } from '@rollkeeper/controllers/shared';
import { decideRolloutState } from './decide-rollout-state.js';

/**
 * Where a rollout is.
 *
 * - `progressing`, `waiting-in-step`, `paused`: on its way, or it will be
 * - `waiting-for-approval`, `held`: a person, a window, a freeze, a disruption budget or the queue of rollouts decides when it
 *   continues
 * - `waiting-for-check`: a check has not passed yet
 * - `baking`: complete, and watched until its bake time is over
 * - `rolling-back`: it failed, and what ran before is on its way back
 * - `complete`, `failed`, `rolled-back`: over
 * - `deleting`: the Deployment is on its way out
 */
export type RolloutPhase =
  | 'progressing'
  | 'waiting-in-step'
  | 'paused'
  | 'waiting-for-approval'
  | 'held'
  | 'waiting-for-check'
  | 'baking'
  | 'rolling-back'
  | 'complete'
  | 'failed'
  | 'rolled-back'
  | 'deleting';

/** Everything that the decision is made of; nothing is read besides. */
export interface RolloutView {
  /** With the API's defaults. */
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls. @default none, where they may not be read */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods that those control. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** Defaults of its policies. @default not known */
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** In place of the bake time of its policies, milliseconds. */
  readonly bakeMs?: number;
  /** Whether this generation has been seen complete before: pods that are missing then were lost. @default false */
  readonly wasComplete?: boolean;
  readonly nowMs: number;
}

export interface RolloutPosition {
  readonly phase: RolloutPhase;
  /** For people. */
  readonly message: string;
  /** Why it failed, where the API says so. */
  readonly failure?: string;
  /** When time alone may have changed the phase. */
  readonly lookAgainAfterMs?: number;
}

/**
 * Where a rollout is, out of what the API says: Kubernetes' own conditions, and what the policies write into them. What the
 * policies would do next is not asked, since another controller may be at work.
 */
export function decideRolloutEnd(view: RolloutView): RolloutPosition {
  const { deployment } = view;
  const { metadata, spec, status } = deployment;
  const name = `deployment "${metadata.name}"`;
  if (metadata.deletionTimestamp !== undefined)
    return { phase: 'deleting', message: `${name} is being deleted` };
  const state = decideRolloutState(deployment);
  const draft = draftOf(view);
  const latest = latestOf(draft, draft.replicaSets);
  const [newest] = readFailures(metadata.annotations ?? {});
  const current = templateHashOf(deployment);
  // By the template, as the policies do: a ReplicaSet keeps its name when its pods are resized in place.
  const target = newest?.to?.template === current ? newest.to : undefined;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return decideUnseen(view, newest, current);
  const progressing = findCondition(status?.conditions, 'Progressing');
  const { message = '', reason = '' } = progressing ?? {};
  const waits = WAITS[reason];
  const failedCheck = heldByCheck(view);
  if (failedCheck !== undefined && !spec.paused)
    return { phase: 'failed', message: `${name} is held by a check. ${failedCheck}`, failure: failedCheck };
  if (waits && !spec.paused) return { phase: waits, message };
  if (reason === ROLLED_BACK) return rolledBack(name, message, newest);
  if (reason === PROGRESS_DEADLINE_EXCEEDED) return exceeded(view, message);
  if (newest && newest.template === current && newest.stopped && state.state !== 'complete') {
    const failed = `${failureSentence(newest)}. It is what an earlier failure went back to, so it is left as it is`;
    return { phase: 'failed', message: `${name} failed. ${failed}`, failure: newest.cause };
  }
  if (newest && target) return goingBack(name, newest, target.revision, state.state === 'complete');
  const checked = state.state === 'complete' ? decideChecks(view, latest) : undefined;
  if (checked) return checked;
  const baked = decideBake(view, draft, latest, state.state === 'complete');
  if (baked) return baked;
  if (state.state === 'complete') return { phase: 'complete', message: state.message };
  if (spec.paused)
    return { phase: 'paused', message: `${name} is paused: changes of its template are not rolled out` };
  return { phase: 'progressing', message: state.message };
}

/** A failure that was recorded or acted on is a change of the Deployment as well; people's changes say nothing yet. */
function decideUnseen(
  { deployment }: RolloutView,
  newest: FailedTemplate | undefined,
  current: string,
): RolloutPosition {
  const { annotations, name } = deployment.metadata;
  const isAskedFor = newest?.template === current && annotations?.[RETRY] === undefined;
  if (newest?.to && (isAskedFor || newest.to.template === current))
    return goingBack(`deployment "${name}"`, newest, newest.to.revision, false);
  return { phase: 'progressing', message: decideRolloutState(deployment).message };
}

const WAITS: Readonly<Record<string, RolloutPhase>> = {
  [WAITING_IN_STEP]: 'waiting-in-step',
  [WAITING_FOR_TERMINATION]: 'waiting-in-step',
  [WAITING_FOR_APPROVAL]: 'waiting-for-approval',
  [ROLLOUT_HELD]: 'held',
  [WAITING_FOR_BUDGET]: 'held',
  [WAITING_FOR_TURN]: 'held',
  [WAITING_FOR_CHECK]: 'waiting-for-check',
  [RESIZING_PODS]: 'progressing',
};

function draftOf({ deployment, nowMs, replicaSets }: RolloutView): RolloutDraft {
  return new RolloutDraft({ deployment, owned: replicaSets, adopted: [], now: toRfc3339(nowMs), nowMs });
}

function rolledBack(name: string, message: string, newest: FailedTemplate | undefined): RolloutPosition {
  return { phase: 'rolled-back', message: `${name} was rolled back. ${message}`, failure: newest?.cause };
}

/** By the deadline itself, or by a policy, which then says which revision runs in its place. */
function exceeded({ deployment }: RolloutView, message: string): RolloutPosition {
  const { metadata, spec, status = {} } = deployment;
  const name = `deployment "${metadata.name}"`;
  const told = readFailures(metadata.annotations ?? {}).find(
    (failure) => failure.to && message.includes(failureSentence(failure)),
  );
  if (!told) return { phase: 'failed', message: `${name} exceeded its progress deadline` };
  const held = `${ROLLED_BACK}: `;
  if (!message.startsWith(held)) return { phase: 'rolling-back', message, failure: told.cause };
  const wanted = replicasOf(spec);
  const runs = (status.availableReplicas ?? 0) >= wanted && (status.replicas ?? 0) === wanted;
  const words = message.slice(held.length);
  return runs
    ? rolledBack(name, words, told)
    : { phase: 'rolling-back', message: words, failure: told.cause };
}

/** The template is back already, and the condition does not say yet that its pods are. */
function goingBack(
  name: string,
  failure: FailedTemplate,
  revision: string,
  complete: boolean,
): RolloutPosition {
  const sentence = failureSentence(failure);
  if (complete) return rolledBack(name, `${sentence}. Revision ${revision} runs again.`, failure);
  const message = `${sentence}. Going back to revision ${revision}.`;
  return { phase: 'rolling-back', message, failure: failure.cause };
}

/** A check that failed without a rollback: without a person the rollout ends here. */
function heldByCheck({ deployment }: RolloutView): string | undefined {
  const condition = deployment.status?.conditions?.find(({ type }) => type === POLICY_CONDITION);
  return condition?.reason === CHECK_FAILED ? condition.message : undefined;
}

/** Complete in Kubernetes' words, and a check is still to pass. */
function decideChecks(view: RolloutView, latest: ReplicaSetDraft | undefined): RolloutPosition | undefined {
  if (!latest?.observed || isGood(latest)) return undefined;
  const compiled = compiledPolicy(view);
  if (compiled.kind !== 'policy' || mayBecomeGood(compiled.policy, latest)) return undefined;
  const trouble = view.deployment.status?.conditions?.find(({ type }) => type === POLICY_CONDITION)?.message;
  const message = `deployment "${view.deployment.metadata.name}" is complete, and its checks have not all passed`;
  return { phase: 'waiting-for-check', message: trouble === undefined ? message : `${message}: ${trouble}` };
}

function compiledPolicy({ deployment, namespaceAnnotations }: RolloutView): ReturnType<typeof compilePolicy> {
  return compilePolicy(deployment.metadata.annotations, namespaceAnnotations, {
    isRollingUpdate: isRollingUpdate(deployment.spec),
  });
}

/** Rollkeeper marks a good revision itself, by the server's time; where another controller is at work, no mark comes. */
const MARK_COMES_WITHIN_MS = 30_000;

/** Undefined: there is nothing to bake, or it is done. */
function decideBake(
  view: RolloutView,
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  complete: boolean,
): RolloutPosition | undefined {
  const { bakeMs, isMarked } = bakeOf(view);
  if (bakeMs === 0 || replicasOf(draft.spec) === 0) return undefined;
  const isDone = view.bakeMs === undefined && latest !== undefined && isGood(latest);
  const { status = {} } = view.deployment;
  const sinceMs = sinceOf(view, draft, latest) ?? (complete ? newestReadyMs(view, latest) : undefined);
  if (isDone || sinceMs === undefined || (status.updatedReplicas ?? 0) < draft.replicas) return undefined;
  const name = `deployment "${draft.name}"`;
  const leftMs = sinceMs + bakeMs + (isMarked ? MARK_COMES_WITHIN_MS : 0) - view.nowMs;
  const available = `${status.availableReplicas ?? 0} of ${draft.replicas} pods are available`;
  if (leftMs > 0 && (complete || view.wasComplete)) {
    const until = toRfc3339(sinceMs + bakeMs);
    const message = `${name} is complete and is watched until ${until}; ${available}`;
    return { phase: 'baking', message, lookAgainAfterMs: leftMs };
  }
  const floor = isRollingUpdate(draft.spec) ? minAvailable(draft.spec) : draft.replicas;
  if (complete || !view.wasComplete || (status.availableReplicas ?? 0) >= floor) return undefined;
  return { phase: 'failed', message: `${name} was complete, and at the end of its bake time ${available}` };
}

/** Since when it is complete; where its ReplicaSets may not be read, by the condition alone. */
function sinceOf(
  { deployment }: RolloutView,
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
): number | undefined {
  if (latest) return completeSinceMs(draft, latest);
  const progressing = findCondition(deployment.status?.conditions, 'Progressing');
  return isRolledOut(progressing?.reason) ? parseTimeMs(progressing?.lastUpdateTime) : undefined;
}

function bakeOf(view: RolloutView): {
  readonly bakeMs: number;
  readonly isMarked: boolean;
} {
  const { bakeMs } = view;
  if (bakeMs !== undefined) return { bakeMs, isMarked: false };
  const compiled = compiledPolicy(view);
  if (compiled.kind !== 'policy') return { bakeMs: 0, isMarked: false };
  return { bakeMs: compiled.policy.bakeMs, isMarked: needsGoodRevisions(compiled.policy) };
}

/** Where no condition keeps the time: since when the last of its pods is ready. */
function newestReadyMs({ pods }: RolloutView, latest: ReplicaSetDraft | undefined): number | undefined {
  const times = pods
    .filter((pod) => latest !== undefined && controllerOf(pod)?.uid === latest.observed?.metadata.uid)
    .flatMap((pod) => parseTimeMs(readyConditionOf(pod)?.lastTransitionTime) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

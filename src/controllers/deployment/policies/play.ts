import type { WatchedNodes } from '../../shared/index.js';
import type { Annotations } from '../annotations.js';
import { REVISION, REVISION_HISTORY } from '../annotations.js';
import type { ReplicaSetDraft, RolloutDraft } from '../draft.js';
import { latestOf } from '../new-replica-set.js';
import { withoutHash } from '../pod-template.js';
import type { PodsOf } from '../recreate.js';
import { requestedRollback, restoredAnnotations } from '../rollback.js';
import { isRollingUpdate } from '../limits.js';
import { isRolloutComplete } from '../progress.js';
import { NEW_REPLICA_SET_AVAILABLE, PROGRESS_DEADLINE_EXCEEDED } from '../reasons.js';
import type { FailedTemplate } from './failed-templates.js';
import { readFailures } from './failed-templates.js';
import { judgeAfterwards } from './afterwards.js';
import type { Budgets } from './budgets.js';
import type { ChecksContext } from './checks/check-needs.js';
import { capUnder, openGates, tellGates } from './checks/gates.js';
import { checkProblem } from './checks/check-problem.js';
import type { Configuration } from './config-digests.js';
import { configurationTrouble, forgetConfiguration, restartOnChange } from './config-restart.js';
import { noteSizeSteps } from './size-steps.js';
import { OURS, forgetPassedCause, noteHistory, withNotedChange } from './history.js';
import { holdOfStart, tellHeld } from './hold-start.js';
import { ABORT, APPROVE, FAILED, RETRY } from './names.js';
import { lookAgainAfter, newOutcome } from './outcome.js';
import type { LivePods, Pass } from './pass.js';
import { letGoOfServices, playBlueGreen } from './blue-green.js';
import { blueGreenTrouble } from './blue-green-trouble.js';
import type { CompiledPolicy, RolloutPolicy } from './policy.js';
import { NO_POLICY, compilePolicy, renderProblems } from './policy.js';
import { countEndingPods, noteReplacement, podReplacementOf, tellEnding } from './pod-replacement.js';
import { takeRequests, tellRetry } from './requests.js';
import { playZones, zonesTrouble } from './zones.js';
import { surgeForEvictions } from './on-eviction.js';
import { noteScaleDown } from './scale-down.js';
import type { WatchedServices } from './selecting-services.js';
import { maxSurgeOf } from './selecting-services.js';
import {
  failedSets,
  hashOf,
  isGood,
  isNewest,
  lastGood,
  replacesOthers,
  revisionInForce,
} from './revisions.js';
import { budgetTrouble, respectBudgets } from './respect-budgets.js';
import { finishResize, resizeInPlace } from './resize/resize-in-place.js';
import { runInstead } from './run-instead.js';
import { capInPlace, leftInSteps, decideStage, dropNeedlessApproval, tellStage } from './stages.js';
import type { Problem } from './tell.js';
import {
  BUDGETS_NOT_WATCHED,
  CONFIGURATION_NOT_WATCHED,
  INVALID_ANNOTATION,
  ROLLED_BACK,
  ROLLOUTS_NOT_LIMITED,
  inKubernetesWords,
  isFailureTold,
  progressReason,
  restartDeadline,
  tellEvent,
  tellProblem,
  warning,
} from './tell.js';
import type { Turns } from './turns.js';
import {
  giveTurnBack,
  isLimitedInCluster,
  keepTurn,
  tellTurn,
  turnTrouble,
  waitForTurn,
} from './take-turns.js';
import { tellFailure } from './tell-failure.js';
import { markServedGood } from './good-revisions.js';

export interface PolicyContext {
  /** Of the Deployment's Namespace, for its defaults. */
  readonly namespaceAnnotations?: Annotations;
  /** What ConfigMaps and Secrets hold. @default not known here, and not asked about */
  readonly configuration?: Configuration;
  /** The PodDisruptionBudgets. @default not known here: what the status says of them is taken for true */
  readonly budgets?: Budgets;
  /** The queue of rollouts. @default not known here: what the status says of it is taken for true */
  readonly turns?: Turns;
  /** The Services that blue-green rollouts move. @default not known here, and not asked about */
  readonly services?: WatchedServices;
  /** The labels of nodes, for rollouts zone by zone. @default not known here, and not asked about */
  readonly nodes?: WatchedNodes;
  /** What is known of checks. @default their recorded results alone */
  readonly checks?: ChecksContext;
  /** @default to be read, where they are needed */
  readonly livePods?: LivePods;
  readonly podsOf: PodsOf;
}

const BY_RESULTS: ChecksContext = { kind: 'unread' };

/** Its own write brings it back; this covers a watch that misses it. */
const RETRY_LOOKS_AGAIN_MS = 1000;

/** Plays Kubernetes' steps on the draft. */
export type PlaySteps = () => void;

/**
 * A pass under the policies that the annotations ask for. They never size a ReplicaSet: they choose which template the steps are
 * played for, and how large the new ReplicaSet may become in them, so the limits of a rolling update hold under every policy.
 * Without annotations it is the steps alone.
 */
export function playUnderPolicies(draft: RolloutDraft, context: PolicyContext, play: PlaySteps): void {
  const { budgets, checks = BY_RESULTS, configuration, livePods, nodes, podsOf, services, turns } = context;
  const shape = {
    isRollingUpdate: isRollingUpdate(draft.spec),
    maxSurge: maxSurgeOf(draft.spec),
    readsReloader: configuration !== undefined && configuration !== 'off',
  };
  const compiled = compilePolicy(draft.annotations, context.namespaceAnnotations, shape);
  inKubernetesWords(draft);
  const policy = policyOf(compiled, draft.annotations, isLimitedInCluster(draft, turns));
  forgetPassedCause(draft);
  const outcome = newOutcome();
  const replacement = podReplacementOf(draft, policy);
  countEndingPods(draft, replacement, podsOf);
  if (compiled.kind !== 'none' || policy || draft.podsOccupiedBy) draft.policy = outcome;
  const known = { budgets, checks, configuration, livePods, nodes, podsOf, services, turns };
  const pass: Pass = { draft, policy: policy ?? NO_POLICY, outcome, ...known };
  if (draft.observed.metadata.deletionTimestamp !== undefined) play();
  else if (!letGoOfServices(pass)) {
    if (policy) playUnder(pass, () => playBlueGreen(pass, () => playZones(pass, play)));
    else play();
  }
  if (draft.observed.metadata.deletionTimestamp === undefined) {
    noteReplacement(draft, replacement);
    noteScaleDown(draft, policy);
    if (draft.podsOccupiedBy) tellEnding(draft, outcome);
  }
  if (!policy && turns !== undefined) giveTurnBack(draft);
  if (policy?.history && draft.observed.metadata.deletionTimestamp === undefined) noteHistory(draft);
  if (policy?.notesSizes) noteSizeSteps(draft);
  const isForgotten = compiled.kind !== 'invalid' && !policy?.restartOn;
  if (configuration === 'off' || (configuration && isForgotten)) forgetConfiguration(draft);
  tellProblem(draft, problemOf(draft, compiled, context), outcome);
}

function problemOf(
  draft: RolloutDraft,
  compiled: CompiledPolicy,
  { budgets, configuration, nodes, services, turns }: PolicyContext,
): Problem | undefined {
  if (compiled.kind === 'invalid')
    return { reason: INVALID_ANNOTATION, message: renderProblems(compiled.problems) };
  if (compiled.kind === 'none') return undefined;
  const trouble = configurationTrouble(draft, compiled.policy.restartOn, configuration);
  if (trouble !== undefined) return { reason: CONFIGURATION_NOT_WATCHED, message: trouble };
  const unwatched = budgetTrouble(compiled.policy, budgets);
  if (unwatched !== undefined) return { reason: BUDGETS_NOT_WATCHED, message: unwatched };
  const unlimited = turnTrouble(compiled.policy, turns);
  if (unlimited !== undefined) return { reason: ROLLOUTS_NOT_LIMITED, message: unlimited };
  const { blueGreen } = compiled.policy;
  return (
    blueGreenTrouble(draft, blueGreen, services) ??
    zonesTrouble(compiled.policy, nodes) ??
    checkProblem(draft)
  );
}

/** A person may request a rollback or a retry without any policy. */
function policyOf(
  compiled: CompiledPolicy,
  annotations: Annotations,
  isLimited: boolean,
): RolloutPolicy | undefined {
  if (compiled.kind !== 'none') return compiled.policy;
  const isAsked = [ABORT, RETRY, APPROVE, FAILED].some((name) => annotations[name] !== undefined);
  return isAsked || isLimited ? NO_POLICY : undefined;
}

function playUnder(pass: Pass, play: PlaySteps): void {
  surgeForEvictions(pass, () => respectBudgets(pass, () => playVersions(pass, play)));
}

/** Decides which version the steps are played for. */
function playVersions(pass: Pass, play: PlaySteps): void {
  const { draft, policy } = pass;
  // A rollback that was asked for comes first, and policies rest while the rollout is paused.
  if (draft.spec.paused || requestedRollback(draft.annotations) !== undefined) {
    const latest = latestOf(draft, draft.living);
    draft.cap = capInPlace(draft, policy, latest);
    draft.mayNotGrow = new Set([
      ...failedSets(draft, readFailures(draft.annotations), hashOf(draft)),
      ...leftInSteps(draft, policy, latest),
    ]);
    return play();
  }
  const template = draft.spec.template;
  const before = latestOf(draft, draft.living);
  markServedGood(draft, policy, before);
  takeRequests(pass, before);
  if (draft.spec.template !== template) return;
  if (draft.annotations[RETRY] === undefined && restartOnChange(pass, before)) return;
  const failures = readFailures(draft.annotations);
  const current = hashOf(draft);
  const failure = failures.find((each) => each.template === current && !each.stopped);
  const target = failure && lastGood(draft, failures, current);
  const goesBack = failure && target && isEnforced(failure, policy);
  const failed = failedSets(draft, failures, goesBack ? hashOf(draft, target.template) : current);
  draft.mayNotGrow = new Set([...failed, ...leftInSteps(draft, policy, before)]);
  if (draft.annotations[RETRY] !== undefined) {
    if (goesBack) runInstead(draft, target, play);
    else play();
    tellRetry(pass);
    return lookAgainAfter(pass.outcome, RETRY_LOOKS_AGAIN_MS);
  }
  if (goesBack) {
    if (pass.turns !== undefined) giveTurnBack(draft);
    return goBack(pass, { failure, target }, play);
  }
  const served = before ? undefined : servedMeanwhile(pass, failures, current);
  const held = served && holdOfStart(policy, draft.nowMs);
  if (held) {
    if (pass.turns !== undefined) giveTurnBack(draft);
    runInstead(draft, served, play);
    return tellHeld(pass, held);
  }
  const wait = served && waitForTurn(pass);
  if (wait) {
    runInstead(draft, served, play);
    return tellTurn(pass, wait.message);
  }
  if (before && policy.unclear !== undefined && isUnfinished(draft, before))
    return stayInPlace(pass, { before, current, failures }, play);
  if (!resizeInPlace(pass, before, play)) rollOut(pass, { before, current, failures }, play);
  const latest = latestOf(draft, draft.living);
  finishResize(pass, latest);
  keepTurn(pass, latest);
}

/**
 * What runs while a new version may not begin: the version before, or, if that one failed, the version that the rollout went
 * back to.
 */
function servedMeanwhile(
  { draft, policy }: Pass,
  failures: readonly FailedTemplate[],
  current: string,
): ReplicaSetDraft | undefined {
  const inForce = revisionInForce(draft);
  if (!inForce) return undefined;
  const hash = hashOf(draft, inForce.template);
  const failure = failures.find(({ stopped, template }) => template === hash && !stopped);
  const isFailed = failure !== undefined && isEnforced(failure, policy);
  return isFailed ? (lastGood(draft, failures, current) ?? inForce) : inForce;
}

/** An abort counts without a policy as well: a person asked for it. */
function isEnforced({ aborted }: FailedTemplate, { onFailure }: RolloutPolicy): boolean {
  return onFailure !== 'none' || aborted === true;
}

interface GoingBack {
  readonly failure: FailedTemplate;
  readonly target: ReplicaSetDraft;
}

/**
 * First the failure is written to the status, so that `kubectl rollout status` ends with it; then the template is put back, where it may be. Until
 * then, and where it may not, the good revision runs in place of what is asked for.
 */
function goBack(pass: Pass, { failure, target }: GoingBack, play: PlaySteps): void {
  const { draft, outcome, policy } = pass;
  if (policy.onFailure !== 'hold' && isFailureTold(draft)) {
    const change = {
      template: hashOf(draft, target.template),
      trigger: 'rollback',
      by: OURS,
      why: failure.cause,
    } as const;
    const restored = restoredAnnotations(draft.annotations, target);
    const annotations = policy.history ? withNotedChange(restored, change) : restored;
    draft.replaceMetadata(annotations, withoutHash(target.template));
    const revision = target.annotations[REVISION] ?? '';
    const message = `Rolled back from revision ${failure.revision} to the pods of revision ${revision} (${target.name}): ${failure.cause}`;
    return tellEvent(draft, outcome, warning(ROLLED_BACK, message));
  }
  runInstead(draft, target, play);
  tellFailure(pass, failure, target);
}

/** Whether it is on its way to a version that has never run whole: not a way back, and not a change of size. */
function isUnfinished(draft: RolloutDraft, latest: ReplicaSetDraft): boolean {
  const ranBefore = latest.annotations[REVISION_HISTORY] !== undefined || !isNewest(draft, latest);
  return !isGood(latest) && !ranBefore && replacesOthers(draft, latest);
}

/**
 * A version that has begun grows no further while it is unclear what protects it. It may still fail, and then goes back as far as
 * that can be understood.
 */
function stayInPlace(pass: Pass, { before, current, failures }: Unfinished, play: PlaySteps): void {
  const { draft, policy } = pass;
  const { template } = draft.spec;
  draft.keptForRollback = lastGood(draft, failures, current);
  draft.cap = Math.min(capInPlace(draft, policy, before) ?? draft.replicas, before.replicas);
  play();
  if (draft.spec.template !== template) return;
  const latest = latestOf(draft, draft.living);
  const held = holdOfStart(policy, draft.nowMs);
  if (held) tellHeld(pass, held);
  if (latest?.observed) judgeAfterwards(pass, { latest, current, failures });
  if (pass.turns !== undefined) keepTurn(pass, latest);
}

interface Unfinished extends Ordinary {
  readonly before: ReplicaSetDraft;
}

interface Ordinary {
  readonly before: ReplicaSetDraft | undefined;
  readonly current: string;
  readonly failures: readonly FailedTemplate[];
}

/** The rollout to what is asked for, as far as its steps allow. */
function rollOut(pass: Pass, { before, current, failures }: Ordinary, play: PlaySteps): void {
  const { draft, outcome, policy } = pass;
  const { template } = draft.spec;
  if (isOfAnother(draft, before)) restartDeadline(draft, `ReplicaSet "${before?.name}" is progressing.`);
  if (!before || !isGood(before)) draft.keptForRollback = lastGood(draft, failures, current);
  const gates = openGates(pass, before);
  const stage = decideStage(draft, policy, before, gates);
  outcome.isHeldByCheck = gates !== undefined && (gates.blocked !== undefined || gates.takesApproval);
  draft.cap = policy.blueGreen ? stage?.cap : capUnder(gates, stage?.cap, { draft, latest: before });
  play();
  if (draft.spec.template !== template) return;
  const latest = latestOf(draft, draft.living);
  if (stage) tellStage(draft, policy.steps, stage, latest, outcome);
  const isApproved = gates !== undefined && tellGates(pass, gates, { stage, latest });
  if (!isApproved) dropNeedlessApproval(draft, stage, outcome);
  if (latest?.observed) judgeAfterwards(pass, { latest, current, failures });
}

/**
 * Whether what the status says of the progress is about the rollout before: this one goes to a ReplicaSet that was there already, or
 * that a process made which died before it could say so. Kubernetes lets that stand, and then no deadline ever passes.
 */
function isOfAnother(draft: RolloutDraft, latest: ReplicaSetDraft | undefined): boolean {
  if (!latest || !ENDS.has(progressReason(draft) ?? '')) return false;
  if (isRolloutComplete(draft, draft.status)) return false;
  return latest.annotations[REVISION] !== draft.observed.metadata.annotations?.[REVISION];
}

const ENDS: ReadonlySet<string> = new Set([PROGRESS_DEADLINE_EXCEEDED, NEW_REPLICA_SET_AVAILABLE]);

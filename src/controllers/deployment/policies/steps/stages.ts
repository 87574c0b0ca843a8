import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isCount, isShortText, isTime, parseTimeMs, readJson } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { isObserved, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import { lastServedRevision, revisionOf } from '../../kubernetes/revision.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { REVISION } from '../../kubernetes/annotations.js';
import type { Gate } from '../checks/gate.js';
import { isOverridable } from '../checks/gate.js';
import { renderDuration } from '@rollkeeper/machinery/clock';
import { APPROVE } from '../common/names.js';
import { STEP } from './settings.js';
import type { Outcome, Standing } from '../common/outcome.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Share } from '../common/share.js';
import { isShared } from '../common/share.js';
import type { FastTrackFields, StepFields } from './settings.js';
import { byWhom, requesterOf } from '../common/requester.js';
import { isGood, isNewest, replacesOthers } from '../common/revisions.js';
import type { ExperimentWait, StepExperiments } from './experiment-step.js';
import { waitOfExperiment, withExperimentEnd } from './experiment-step.js';
import { capAt, isShareStep, shareAt } from './step-shares.js';
import type { Step } from './steps.js';
import { MOST_STEPS, renderStep } from './steps.js';
import {
  WAITING_FOR_APPROVAL,
  WAITING_IN_STEP,
  normal,
  tellEvent,
  tellProgress,
  warning,
} from '../common/tell.js';

export interface Approval {
  /** Counted from 1. */
  readonly step: number;
  /** The name in the annotation. */
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
}

/** The position of a rollout in its steps: kept on its ReplicaSet, so that another template begins at the first. */
export interface Position {
  /** Steps that are behind it. */
  readonly done: number;
  /** When the last of them was over, RFC 3339. */
  readonly since: string;
  readonly approvals: readonly Approval[];
  /** The end of the experiment at this step, RFC 3339. @default it has not begun */
  readonly until?: string;
}

/** The wait that holds a rollout at its step. */
type Wait =
  | { readonly for: 'time'; readonly untilMs: number }
  | { readonly for: 'approval' }
  | ExperimentWait
  | { readonly for: 'check'; readonly gate: Gate }
  /** The rollout by weights says why. */
  | { readonly for: 'weight' }
  | { readonly for: 'pods' };

/** The checks of a pass, as far as the steps ask for them. */
export interface StepGates {
  /** A check that is measured all the way through, and lets no step be taken. */
  readonly blocked?: Gate;
  /** A measurement of one of these is due now: its earlier result does not allow a step. */
  readonly isPending: boolean;
  /** An approval is about such a check, and is used up by it. */
  readonly takesApproval: boolean;
  /** @param step counted from 1 */
  at(check: string, step: number): Gate;
}
/** Whether the routes give the new version a share of the requests. */
export interface StepWeights {
  isServed(share: Share): boolean;
}

/** The answers that steps need beside pods and time. */
export interface StepNeeds {
  readonly gates?: StepGates;
  /** @default shares are not known, and count as served */
  readonly weights?: StepWeights;
  /** @default the pods of experiments count as available */
  readonly experiments?: StepExperiments;
}

/** The part of a policy that says where a rollout waits. */
type SteppedPolicy = FastTrackFields & StepFields;

/** How far the rollout may go in this pass. */
export interface Stage {
  readonly position: Position;
  /** How large the new ReplicaSet may become. */
  readonly cap: number;
  /** Undefined once all steps are behind it. */
  readonly wait?: Wait;
  readonly isMoved: boolean;
  /** The approval that has been used. */
  readonly used?: Approval;
  /** Nothing is replaced any more: what is left are checks of what runs. */
  readonly isTail: boolean;
}

/**
 * The step at which the steps hold the rollout; `undefined` if it continues without: nothing is replaced, it began
 * without steps, or it goes to a revision that was good before, or that was there a few revisions ago.
 */
export function decideStage(
  draft: RolloutDraft,
  policy: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
  { experiments, gates, weights }: StepNeeds = {},
): Stage | undefined {
  const { steps } = policy;
  const position = positionOf(draft, policy, latest);
  const needs = { gates, weights, experiments };
  if (position) return advance({ draft, steps, latest, ...needs, isTail: false }, position);
  const tail = tailOf(draft, steps, latest);
  return tail && advance({ draft, steps, latest, ...needs, isTail: true }, tail);
}

/** How large the new ReplicaSet may be while the rollout stays where it is. */
export function capInPlace(
  draft: RolloutDraft,
  policy: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
): number | undefined {
  const position = positionOf(draft, policy, latest);
  return position && capAt(policy.steps, position.done, draft.replicas);
}

/**
 * The versions that were left behind in the middle of their steps: what has not passed them gets no more pods, although a share of a
 * new size would fall to it. None where there is no other version that could take that share.
 */
export function leftInSteps(
  draft: RolloutDraft,
  { steps }: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
): ReadonlySet<ReplicaSetDraft> {
  if (steps.length === 0) return new Set();
  const old = draft.living.filter((set) => set !== latest && set.replicas > 0);
  const left = old.filter((set) => {
    const position = isGood(set) ? undefined : readPosition(set.annotations);
    return position !== undefined && position.done < steps.length;
  });
  return new Set(left.length < old.length ? left : []);
}

function positionOf(
  draft: RolloutDraft,
  { fastTrack, steps }: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
): Position | undefined {
  if (steps.length === 0 || draft.replicas === 0 || !replacesOthers(draft, latest)) return undefined;
  if (latest && (isGood(latest) || isFastTracked(draft, latest, fastTrack))) return undefined;
  const begun = latest && isNewest(draft, latest) ? readPosition(latest.annotations) : undefined;
  if (latest && !begun && isNewest(draft, latest) && latest.replicas > 0) return undefined;
  return begun ?? { done: 0, since: draft.now, approvals: [] };
}

/**
 * Whether it goes back to one of this many earlier revisions. Its annotations remember which it was, after it has a new number
 * too.
 */
export function isFastTracked(draft: RolloutDraft, latest: ReplicaSetDraft, revisions: number): boolean {
  if (revisions === 0 || !latest.observed) return false;
  const others = draft.living.filter((set) => set !== latest).map(revisionOf);
  const newest = others.reduce((most, each) => (each > most ? each : most), 0n);
  const own = revisionOf(latest);
  const was = own > newest ? lastServedRevision(latest.annotations) : own;
  return was !== undefined && was > 0n && newest - was <= BigInt(revisions);
}

/**
 * The stage of a rollout whose last pods have been replaced, and that has checks before it: they are about what runs.
 */
function tailOf(
  draft: RolloutDraft,
  steps: readonly Step[],
  latest: ReplicaSetDraft | undefined,
): Position | undefined {
  if (!latest || draft.replicas === 0 || isGood(latest) || replacesOthers(draft, latest)) return undefined;
  if (!isNewest(draft, latest)) return undefined;
  const position = readPosition(latest.annotations);
  return position && leavesCheck(steps, position) ? position : undefined;
}

/** Whether a check of its steps is still before the rollout of this ReplicaSet. */
export function isCheckAhead(steps: readonly Step[], replicaSet: ReplicaSetDraft): boolean {
  const position = readPosition(replicaSet.annotations);
  return position !== undefined && leavesCheck(steps, position);
}

function leavesCheck(steps: readonly Step[], { done }: Position): boolean {
  return steps.slice(done).some(({ kind }) => kind === 'check');
}

/** The parts by which the steps are taken. */
interface Walk {
  readonly draft: RolloutDraft;
  readonly steps: readonly Step[];
  readonly latest: ReplicaSetDraft | undefined;
  readonly gates: StepGates | undefined;
  readonly weights: StepWeights | undefined;
  readonly experiments: StepExperiments | undefined;
  readonly isTail: boolean;
}

function advance(walk: Walk, before: Position): Stage {
  const { draft, gates, isTail, steps } = walk;
  let position: Position = before;
  let wait: Wait | undefined = heldAt(walk, before);
  let used: Approval | undefined;
  for (let step = wait ? undefined : steps[position.done]; step; step = steps[position.done]) {
    if (step.kind === 'experiment' && !isTail)
      position = withExperimentEnd(step, position, { ...walk, nowMs: draft.nowMs });
    const isTaken: boolean = used !== undefined || gates?.takesApproval === true;
    const by = isTaken ? undefined : requesterOf(draft.annotations, APPROVE);
    wait = waitOf(walk, step, position);
    const isEnded = wait !== undefined && by !== undefined && endsByApproval(wait);
    if ((wait && !isEnded) || gates?.isPending) break;
    wait = undefined;
    const done = position.done + 1;
    if (isEnded) used = { step: done, by, at: draft.now };
    const approvals = used ? [...before.approvals, used] : before.approvals;
    position = { done, since: draft.now, approvals };
  }
  const cap = isTail ? draft.replicas : capAt(steps, position.done, draft.replicas);
  return { position, cap, wait, used, isTail, isMoved: position.done !== before.done };
}

/** The reason that no step is taken: a check that is measured all the way through, or a share that a step gave and that is not served. */
function heldAt({ gates, isTail, steps, weights }: Walk, { done }: Position): Wait | undefined {
  if (gates?.blocked) return { for: 'check', gate: gates.blocked };
  // A step that gives another share says itself when it is served.
  const step = steps[done];
  if (isTail || done === 0 || step === undefined || isShareStep(step)) return undefined;
  const share = shareAt(steps, done - 1);
  return isShared(share) && weights?.isServed(share) === false ? { for: 'weight' } : undefined;
}

function waitOf(
  { draft, experiments, gates, isTail, latest, steps, weights }: Walk,
  step: Step,
  position: Position,
): Wait | undefined {
  const { done, since } = position;
  // A version that runs already needs no approval to run.
  if (step.kind === 'approve') return isTail ? undefined : { for: 'approval' };
  if (step.kind === 'check') {
    const gate = gates?.at(step.check, done + 1);
    return gate && gate.status !== 'passed' ? { for: 'check', gate } : undefined;
  }
  if (step.kind === 'experiment')
    return isTail ? undefined : waitOfExperiment(step, position, { gates, experiments, nowMs: draft.nowMs });
  if (step.kind === 'wait') {
    const untilMs = (parseTimeMs(since) ?? 0) + step.ms;
    return draft.nowMs >= untilMs ? undefined : { for: 'time', untilMs };
  }
  const size = capAt(steps, done, draft.replicas);
  if (!latest || latest.replicas < size || !isWhole(latest, size)) return { for: 'pods' };
  if (step.kind === 'size' || isTail) return undefined;
  return weights?.isServed(shareAt(steps, done)) === false ? { for: 'weight' } : undefined;
}

function endsByApproval(wait: Wait): boolean {
  return wait.for === 'approval' || (wait.for === 'check' && isOverridable(wait.gate));
}

/** Whether `size` of its pods exist and are available. */
function isWhole(latest: ReplicaSetDraft, size: number): boolean {
  return size === 0 || (isObserved(latest) && lastingAvailable(latest, OWN_RULES) >= size);
}

/** Notes where the rollout is, and reports what it waits for. */
export function tellStage(
  draft: RolloutDraft,
  steps: readonly Step[],
  stage: Stage,
  latest: ReplicaSetDraft | undefined,
  outcome: Outcome,
): void {
  const { position, used, wait } = stage;
  if (used) {
    const { [APPROVE]: _used, ...others } = draft.annotations;
    draft.replaceMetadata(others);
    const by = byWhom(used.by, draft.names);
    const note = normal('RolloutApproved', `Step ${used.step} of ${steps.length} was approved${by}`);
    tellEvent(draft, outcome, note);
  }
  if (latest) writePosition(draft, latest, position);
  if (wait?.for === 'experiment' && wait.runs) outcome.experiment = wait.runs;
  if (stage.isMoved) {
    const note = position.done < steps.length ? stepName(steps, position.done) : 'all steps are done';
    tellEvent(draft, outcome, normal('RolloutStep', `Rollout of ${latest?.name ?? draft.name}: ${note}`));
  }
  // The gates of a check say what is said of it, and so does a rollout by weights.
  if (!wait || wait.for === 'pods' || wait.for === 'weight' || wait.for === 'check' || !latest) return;
  if (!isWhole(latest, latest.replicas)) return;
  const name = stepName(steps, position.done);
  if (!stage.isTail) return tellWait(draft, name, wait, outcome);
  if (wait.for !== 'time') return;
  outcome.standing = standingOf(draft, name, wait);
  lookAgainAfter(outcome, wait.untilMs - draft.nowMs);
}

function tellWait(
  draft: RolloutDraft,
  name: string,
  wait: Exclude<Wait, { for: 'pods' | 'check' | 'weight' }>,
  outcome: Outcome,
): void {
  const standing = standingOf(draft, name, wait);
  outcome.standing = standing;
  outcome.isWaiting = true;
  if (wait.for === 'time') lookAgainAfter(outcome, wait.untilMs - draft.nowMs);
  if (wait.for === 'experiment')
    lookAgainAfter(outcome, wait.untilMs === undefined ? LOOK_AT_PODS_MS : wait.untilMs - draft.nowMs);
  const reason = wait.for === 'approval' ? WAITING_FOR_APPROVAL : WAITING_IN_STEP;
  const message = `${name}: ${wordsOf(wait)}`;
  if (wait.for === 'approval' && draft.observed.status?.conditions?.every((each) => each.message !== message))
    tellEvent(draft, outcome, normal(WAITING_FOR_APPROVAL, message));
  tellProgress(draft, { status: 'Unknown', reason, message });
}

/** No event reports that a pod of an experiment is available. */
const LOOK_AT_PODS_MS = 2000;

function wordsOf(wait: Exclude<Wait, { for: 'pods' | 'check' | 'weight' }>): string {
  if (wait.for === 'approval') return 'waits for an approval';
  if (wait.for === 'time') return `until ${timeOf(wait.untilMs)}`;
  if (wait.untilMs !== undefined) return `runs an experiment until ${timeOf(wait.untilMs)}`;
  const pods = `pods of its experiment (available: ${wait.missing ?? 'unknown'})`;
  return wait.runs ? `waits for the ${pods}` : `the ${pods} were not available in time, and are removed`;
}

function standingOf(
  draft: RolloutDraft,
  name: string,
  wait: Exclude<Wait, { for: 'pods' | 'check' | 'weight' }>,
): Standing {
  if (wait.for === 'time') {
    const left = renderDuration(wait.untilMs - draft.nowMs);
    return {
      code: 'waits-in-step',
      sentence: `it is at ${name.toLowerCase()}, until ${timeOf(wait.untilMs)} (${left})`,
      unblockedBy: [`${left} without a failure`, 'or roll back with rollkeeper abort'],
      endsByItself: true,
    };
  }
  const { name: deployment, namespace = 'default' } = draft.observed.metadata;
  if (wait.for === 'experiment')
    return {
      code: 'waits-in-step',
      sentence: `it is at ${name.toLowerCase()}: ${wordsOf(wait)}`,
      unblockedBy: [
        ...(wait.runs ? ['time, and its checks'] : ['another version']),
        `or roll back with rollkeeper abort ${namespace}/${deployment}`,
      ],
      endsByItself: wait.runs !== undefined,
    };
  return {
    code: 'waits-for-approval',
    sentence: `it is at ${name.toLowerCase()}, and waits for an approval`,
    unblockedBy: [
      `rollkeeper promote ${namespace}/${deployment}, or kubectl annotate deployment ${deployment} ${APPROVE}=WHO`,
      `or roll back with rollkeeper abort ${namespace}/${deployment}`,
    ],
    endsByItself: false,
  };
}

/**
 * An approval that nothing waits for must not approve of what comes later. One of the step that the rollout is at stays while the routes
 * do not serve the share of the step before: it is used once they do.
 */
export function dropNeedlessApproval(
  draft: RolloutDraft,
  steps: readonly Step[],
  stage: Stage | undefined,
  outcome: Outcome,
): void {
  const by = requesterOf(draft.annotations, APPROVE);
  const { [APPROVE]: _dropped, ...others } = draft.annotations;
  if (by === undefined || stage?.used) return;
  if (stage?.wait?.for === 'weight' && steps[stage.position.done]?.kind === 'approve') return;
  draft.replaceMetadata(others);
  // The rest of an approval that was used, and of which only the step was noted.
  if (stage?.position.approvals.at(-1)?.by === by) return;
  tellEvent(
    draft,
    outcome,
    warning('ApprovalNotNeeded', `Nothing waited for the approval${byWhom(by, draft.names)}: it is dropped`),
  );
}

export function stepName(steps: readonly Step[], done: number): string {
  const step = steps[done];
  return `Step ${done + 1} of ${steps.length} (${step ? renderStep(step) : ''})`;
}

function timeOf(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

function writePosition(draft: RolloutDraft, latest: ReplicaSetDraft, position: Position): void {
  const { approvals, done, since, until } = position;
  const revision = latest.annotations[REVISION] ?? '';
  const text = stringifyJson({
    ...{ revision, done, since },
    ...(approvals.length > 0 && { approvals }),
    ...(until !== undefined && { until }),
  });
  draft.annotate(latest, { ...latest.annotations, [STEP]: text });
}

/**
 * The position of a rollout in its steps, from its ReplicaSet's annotations; `undefined` if none of this revision can
 * be read.
 */
export function readPosition(annotations: Annotations): Position | undefined {
  const read = readJson(annotations[STEP]);
  if (!isJsonObject(read) || read['revision'] !== annotations[REVISION]) return undefined;
  const { approvals = [], done, since, until } = read;
  if (!isCount(done) || !isTime(since) || !Array.isArray(approvals)) return undefined;
  return {
    ...{ done, since, approvals: approvals.slice(-MOST_STEPS).filter(isApproval) },
    ...(isTime(until) && { until }),
  };
}

function isApproval(value: unknown): value is Approval {
  return isJsonObject(value) && isCount(value['step']) && isShortText(value['by']) && isTime(value['at']);
}

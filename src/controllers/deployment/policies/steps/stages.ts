import { parseTimeMs } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { isObserved, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import { lastServedRevision, revisionOf } from '../../kubernetes/revision.js';
import type { Gate } from '../checks/gate.js';
import { isOverridable } from '../checks/gate.js';
import { APPROVE } from '../common/names.js';
import type { Share } from '../common/share.js';
import { isShared } from '../common/share.js';
import type { FastTrackFields, StepFields } from './settings.js';
import { requesterOf } from '../common/requester.js';
import { isGood, isNewest, replacesOthers } from '../common/revisions.js';
import type { ExperimentWait, StepExperiments } from './experiment-step.js';
import { waitOfExperiment, withExperimentEnd } from './experiment-step.js';
import type { Approval, Position } from '../common/position.js';
import { readPosition } from '../common/position.js';
import { capAt, isShareStep, shareAt } from './step-shares.js';
import type { Step } from './steps.js';

/** The wait that holds a rollout at its step. */
export type Wait =
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
export function isWhole(latest: ReplicaSetDraft, size: number): boolean {
  return size === 0 || (isObserved(latest) && lastingAvailable(latest, OWN_RULES) >= size);
}

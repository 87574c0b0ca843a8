import { REVISION, REVISION_HISTORY } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { isRolloutComplete } from '../../kubernetes/progress.js';
import { workloadOf } from '../../kubernetes/workload.js';
import { NEW_REPLICA_SET_AVAILABLE, PROGRESS_DEADLINE_EXCEEDED } from '../../kubernetes/reasons.js';
import { judgeAfterwards } from '../failure/afterwards.js';
import { capUnder, openGates, tellGates } from '../steps/gates.js';
import { holdOfStart, tellHeld } from '../start/hold-start.js';
import type { BlueGreenFields } from '../blue-green/settings.js';
import type { CheckPass } from '../checks/check-needs.js';
import type { CheckFields } from '../checks/settings.js';
import type { FailureFields } from '../failure/settings.js';
import type { StartFields } from '../start/settings.js';
import type { ExperimentSurroundings } from '../experiment/experiment.js';
import type { ExperimentServiceSurroundings } from '../side-services/side-services.js';
import { stepExperiments } from '../side-services/step-experiments.js';
import type { FastTrackFields, StepFields } from '../steps/settings.js';
import type { PolicyDecision } from '../common/pass.js';
import { isGood, isNewest, lastGood, replacesOthers } from '../common/revisions.js';
import type { RolloutInForce, VersionRule } from '../common/version-rule.js';
import { capInPlace, decideStage, leftInSteps } from '../steps/stages.js';
import { dropNeedlessApproval, tellStage } from '../steps/tell-stage.js';
import { shareAt } from '../steps/step-shares.js';
import { stepWeights, type SteeredPass } from '../traffic/step-weights.js';
import { WHOLE_SHARE } from '../common/share.js';
import { progressReason, restartDeadline } from '../common/tell.js';

/** A pass, as the rules of a rollout know it. */
type RolloutPass = CheckPass<
  BlueGreenFields & CheckFields & FailureFields & FastTrackFields & StartFields & StepFields
> &
  SteeredPass &
  ExperimentSurroundings &
  ExperimentServiceSurroundings;

/** The version that is asked for runs, as far as its steps allow. */
export const ROLL_OUT: VersionRule<RolloutPass> = {
  limitAtRest: ({ draft, policy }, latest) => ({
    most: capInPlace(draft, policy, latest),
    mayNotGrow: leftInSteps(draft, policy, latest),
  }),
  limit: ({ draft, policy }, { before }) => ({ mayNotGrow: leftInSteps(draft, policy, before) }),
  choose: rollOut,
};

/** A version that has begun stays as it is while it is unclear what protects it. */
export const STAY_IN_PLACE: VersionRule<RolloutPass> = {
  choose: (pass, rollout) => {
    const { before } = rollout;
    const stays = before && pass.policy.unclear !== undefined && isUnfinished(pass.draft, before);
    return stays ? stayInPlace(pass, { ...rollout, before }) : undefined;
  },
};

/** The rollout to what is asked for, as far as its steps allow. */
function rollOut(pass: RolloutPass, { before, current, failures }: RolloutInForce): PolicyDecision {
  const { draft, outcome, policy } = pass;
  const { template } = draft.spec;
  if (isOfAnother(draft, before))
    restartDeadline(draft, `${workloadOf(draft.observed).versionKind} "${before?.name}" is progressing.`);
  const keptForRollback = before && isGood(before) ? undefined : lastGood(draft, failures, current);
  const gates = openGates(pass, before);
  const weights = stepWeights(pass, before);
  const experiments = stepExperiments(pass, before);
  const stage = decideStage(draft, policy, before, { gates, weights, experiments });
  outcome.askedShare = stage ? shareAt(policy.steps, stage.position.done) : WHOLE_SHARE;
  outcome.isHeldByCheck = gates !== undefined && (gates.blocked !== undefined || gates.takesApproval);
  const most = policy.blueGreen ? stage?.cap : capUnder(gates, stage?.cap, { draft, latest: before });
  const afterwards = (): void => {
    if (draft.spec.template !== template) return;
    const latest = latestOf(draft, draft.living);
    if (stage) tellStage(draft, policy.steps, stage, latest, outcome);
    const isApproved = gates !== undefined && tellGates(pass, gates, { stage, latest });
    if (!isApproved) dropNeedlessApproval(draft, policy.steps, stage, outcome);
    if (latest?.observed) judgeAfterwards(pass, { latest, current, failures });
  };
  return { limits: { most, keptForRollback }, afterwards };
}

/**
 * A version that has begun grows no further while it is unclear what protects it. It may still fail, and then goes back as far as
 * that can be understood.
 */
function stayInPlace(
  pass: RolloutPass,
  { before, current, failures }: RolloutInForce & { readonly before: ReplicaSetDraft },
): PolicyDecision {
  const { draft, policy } = pass;
  const { template } = draft.spec;
  const keptForRollback = lastGood(draft, failures, current);
  const most = Math.min(capInPlace(draft, policy, before) ?? draft.replicas, before.replicas);
  const afterwards = (): void => {
    if (draft.spec.template !== template) return;
    const latest = latestOf(draft, draft.living);
    const held = holdOfStart(policy, draft.nowMs);
    if (held) tellHeld(pass, held);
    if (latest?.observed) judgeAfterwards(pass, { latest, current, failures });
  };
  return { limits: { most, keptForRollback }, afterwards };
}

/** Whether it is on its way to a version that has never run whole: not a way back, and not a change of size. */
function isUnfinished(draft: RolloutDraft, latest: ReplicaSetDraft): boolean {
  const ranBefore = latest.annotations[REVISION_HISTORY] !== undefined || !isNewest(draft, latest);
  return !isGood(latest) && !ranBefore && replacesOthers(draft, latest);
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

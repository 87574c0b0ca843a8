import type { RolloutBranch, RolloutDraft, RolloutSets } from './draft.js';
import { syncRevision } from './new-replica-set.js';
import { cleanUpHistory } from './cleanup.js';
import { syncPausedCondition } from './progress.js';
import { isScalingEvent, noteNewTotal, scaleToSpec } from './proportional-scaling.js';
import type { DecidedPolicies, PolicyContext } from './policies/play.js';
import { ANNOTATION_RULES } from './policies/names.js';
import { playUnderPolicies } from './policies/play.js';
import { decideRemoval, handOverRemoval, refuseRemoval } from './remove-pods.js';
import { stepRecreate } from './recreate.js';
import { requestedRollback, stepRollback } from './rollback.js';
import { stepRollingUpdate } from './rolling.js';
import { isRollingUpdate } from './limits.js';
import type { RolloutRules } from './rollout-rules.js';
import { setStatus } from './status.js';
import { tellTimeoutCause } from './timeout-cause.js';

/** Recorded rollouts settle after at most 5 steps; more than this is a bug. */
const MAX_STEPS = 50;

export interface DecisionContext extends PolicyContext {
  readonly rules: RolloutRules;
}

/**
 * Decides a whole pass, purely: plays the single steps that Kubernetes' controller would take in as many syncs, on
 * the draft, until a step changes nothing. The ReplicaSets' status is what was observed all the while, so the pass
 * ends where pods have to come or go first. A rollback that changes the template ends it too: what follows belongs
 * to a generation that the API has yet to number. Policies decide what the steps are played for; what Kubernetes' controller does
 * not say, is added last.
 */
export function decideRollout(draft: RolloutDraft, context: DecisionContext): DecidedPolicies {
  draft.limit({ annotationRules: ANNOTATION_RULES });
  const removal = decideRemoval(draft, context.podsOf, (scratch) => decideRollout(scratch, context));
  if (removal?.kind === 'refused') refuseRemoval(draft, removal.why);
  const decided = playUnderPolicies(draft, context, () => playSteps(draft, context));
  if (removal && removal.kind !== 'refused') handOverRemoval(draft, removal);
  tellTimeoutCause(draft, context.podsOf);
  return decided;
}

/** The pass exactly as Kubernetes' controller performs it. */
export function playSteps(draft: RolloutDraft, context: DecisionContext): void {
  const { template } = draft.spec;
  for (let step = 0; step < MAX_STEPS; step++) {
    const before = draft.version;
    takeStep(draft, context);
    if (draft.version === before || draft.spec.template !== template) return;
  }
}

/** One sync of Kubernetes' controller: delete > pause > rollback > scale > rollout. */
function takeStep(draft: RolloutDraft, { podsOf, rules }: DecisionContext): void {
  const take = (branch: RolloutBranch): void => void (draft.branch ??= branch);
  if (draft.observed.metadata.deletionTimestamp !== undefined) {
    take('deletion');
    return setStatus(draft, syncRevision(draft, rules));
  }
  syncPausedCondition(draft);
  const sets = syncRevision(draft, rules);
  if (draft.spec.paused) {
    take('paused');
    stepScale(draft, sets, rules);
    return;
  }
  const rollbackTo = requestedRollback(draft.annotations);
  if (rollbackTo !== undefined) {
    take('rollback');
    return stepRollback(draft, sets, rollbackTo, rules);
  }
  if (isScalingEvent(draft, sets)) {
    take('scale');
    const isAll = stepScale(draft, sets, rules);
    if (isAll && rules.scalingEnds && !draft.isHeldBack) noteNewTotal(draft, sets);
    return;
  }
  if (isRollingUpdate(draft.spec)) {
    take('rolling-update');
    return stepRollingUpdate(draft, sets, rules);
  }
  take('recreate');
  stepRecreate(draft, sets, podsOf, rules);
}

function stepScale(draft: RolloutDraft, sets: RolloutSets, rules: RolloutRules): boolean {
  const isAll = scaleToSpec(draft, sets, rules);
  if (draft.spec.paused && requestedRollback(draft.annotations) === undefined)
    cleanUpHistory(draft, sets.old);
  setStatus(draft, sets);
  return isAll;
}

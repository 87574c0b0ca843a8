import type { RolloutBranch, RolloutDraft, RolloutSets } from './draft.js';
import { syncRevision } from './new-replica-set.js';
import { cleanUpHistory } from './cleanup.js';
import { syncPausedCondition } from './progress.js';
import { isScalingEvent, noteNewTotal, scaleToSpec } from './proportional-scaling.js';
import { stepRecreate, type PodsOf } from './recreate.js';
import { requestedRollback, stepRollback } from './rollback.js';
import { stepRollingUpdate } from './rolling.js';
import { isRollingUpdate } from './limits.js';
import type { RolloutRules } from './rollout-rules.js';
import { setStatus } from './status.js';

/** Recorded rollouts settle after at most 5 syncs; more than this is a bug. */
const MAX_SYNCS = 50;

/** The knowledge of a sync besides the draft. */
interface SyncContext {
  readonly podsOf: PodsOf;
  readonly rules: RolloutRules;
}

/**
 * Plays the syncs that Kubernetes' controller would take, on the draft, until one changes nothing. The ReplicaSets' status
 * is what was observed all the while, so it ends where pods have to come or go first. A rollback that changes the template
 * ends it too: what follows belongs to a generation that the API has yet to number.
 */
export function playSyncs(draft: RolloutDraft, context: SyncContext): void {
  const { template } = draft.spec;
  for (let sync = 0; sync < MAX_SYNCS; sync++) {
    const before = draft.version;
    syncDeployment(draft, context);
    if (draft.version === before || draft.spec.template !== template) return;
  }
}

/** One sync, as `syncDeployment` in Kubernetes: delete > pause > rollback > scale > rollout. */
function syncDeployment(draft: RolloutDraft, { podsOf, rules }: SyncContext): void {
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

import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { NEW_REPLICA_SET_AVAILABLE } from '../../kubernetes/reasons.js';
import { parseTimeMs } from '../../../shared/index.js';
import { mayBecomeGood } from './may-become-good.js';
import { readFailures } from '../common/failed-templates.js';
import { COMPLETE_SINCE } from '../common/names.js';
import type { Outcome } from '../common/outcome.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { BlueGreenFields } from '../blue-green/settings.js';
import type { CheckFields } from '../checks/settings.js';
import type { Pass } from '../common/pass.js';
import type { TrafficFields } from '../traffic/settings.js';
import type { StepFields } from '../steps/settings.js';
import type { FailureFields } from './settings.js';
import { completeSinceMs, hashOf, isGood, markGood, revisionInForce } from '../common/revisions.js';

type GoodFields = FailureFields & Pick<CheckFields, 'checks'> & StepFields;

/** Whether anything ever goes back, or passes its steps by, because a revision was good. */
export function needsGoodRevisions({
  blueGreen,
  checks,
  onFailure,
  steps,
  traffic,
}: GoodFields & BlueGreenFields & TrafficFields): boolean {
  const isMoved = blueGreen !== undefined || traffic !== undefined;
  return onFailure !== 'none' || steps.length > 0 || checks.length > 0 || isMoved;
}

/**
 * A rollout that was complete for its bake time when the next one began was good, also where the policy came with the template of the
 * next, or no pass came in between. One without a pod is complete as well, and has proved nothing.
 */
export function markServedGood(
  draft: RolloutDraft,
  policy: Pass<GoodFields>['policy'],
  latest: ReplicaSetDraft | undefined,
): void {
  const served = revisionInForce(draft);
  if (!served || served === latest || served.replicas === 0 || isGood(served)) return;
  const progressing = findCondition(draft.status.conditions, 'Progressing');
  const isComplete = progressing?.reason === NEW_REPLICA_SET_AVAILABLE;
  const since = isComplete ? progressing.lastUpdateTime : served.annotations[COMPLETE_SINCE];
  // How long it has to last may be what cannot be understood: it is judged when that is corrected.
  if (policy.unclear !== undefined) {
    if (isComplete && since !== undefined)
      draft.annotate(served, { ...served.annotations, [COMPLETE_SINCE]: since });
    return;
  }
  const sinceMs = parseTimeMs(since);
  if (sinceMs === undefined || draft.nowMs < sinceMs + policy.bakeMs) return;
  const failed = readFailures(draft.annotations).some(
    ({ template }) => template === hashOf(draft, served.template),
  );
  if (!failed && mayBecomeGood(policy, served)) markGood(draft, served);
}

/** Marks the revision of a rollout that has been complete for its bake time. */
export function markLatestGood(
  draft: RolloutDraft,
  policy: FailureFields,
  latest: ReplicaSetDraft,
  outcome: Outcome,
): void {
  if (isGood(latest) || draft.replicas === 0) return;
  const sinceMs = completeSinceMs(draft, latest);
  if (sinceMs === undefined) return noteCompletion(draft, latest, policy, outcome);
  const leftMs = sinceMs + policy.bakeMs - draft.nowMs;
  if (leftMs > 0) return lookAgainAfter(outcome, leftMs);
  markGood(draft, latest);
  outcome.actions.push(`revision of ${latest.name} is good`);
}

/** If no condition keeps the time, the ReplicaSet does. */
function noteCompletion(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  { bakeMs }: FailureFields,
  outcome: Outcome,
): void {
  if (findCondition(draft.status.conditions, 'Progressing')) return;
  if (bakeMs === 0) return markGood(draft, latest);
  draft.annotate(latest, { ...latest.annotations, [COMPLETE_SINCE]: draft.now });
  lookAgainAfter(outcome, bakeMs);
}

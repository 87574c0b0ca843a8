import { findCondition, newCondition, withCondition } from './conditions.js';
import type { RolloutDraft } from './draft.js';
import { hasProgressDeadline } from './progress.js';
import { DEPLOYMENT_PAUSED, DEPLOYMENT_RESUMED, PROGRESS_DEADLINE_EXCEEDED } from './reasons.js';

/**
 * Says in the Progressing condition that the rollout was paused or resumed, so that the time of the pause does not
 * count against the deadline. A deadline that was exceeded already stays reported.
 */
export function syncPausedCondition(draft: RolloutDraft): void {
  if (!hasProgressDeadline(draft.spec)) return;
  const { conditions } = draft.status;
  const reason = findCondition(conditions, 'Progressing')?.reason;
  const paused = draft.spec.paused === true;
  if (reason === PROGRESS_DEADLINE_EXCEEDED || paused === (reason === DEPLOYMENT_PAUSED)) return;
  const fields = paused
    ? ({ status: 'Unknown', reason: DEPLOYMENT_PAUSED, message: 'Deployment is paused' } as const)
    : ({ status: 'Unknown', reason: DEPLOYMENT_RESUMED, message: 'Deployment is resumed' } as const);
  const condition = newCondition('Progressing', fields, draft.now);
  draft.setStatus({ ...draft.status, conditions: withCondition(conditions, condition) });
}

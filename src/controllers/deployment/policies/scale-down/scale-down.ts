import { KEEP_SPREAD, SCALE_DOWN_OF_OWNER } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { RolloutPolicy } from '../policy.js';

/** Notes the policy on the ReplicaSets that have pods: their controller chooses the pods to delete. */
export function noteScaleDown(draft: RolloutDraft, policy: RolloutPolicy | undefined): void {
  for (const set of draft.living) {
    const { [SCALE_DOWN_OF_OWNER]: noted, ...others } = set.annotations;
    const wanted = policy?.keepsSpread && set.replicas > 0 ? KEEP_SPREAD : undefined;
    if (noted === wanted) continue;
    draft.annotate(set, wanted ? { ...others, [SCALE_DOWN_OF_OWNER]: wanted } : others);
  }
}

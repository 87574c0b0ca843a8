import { KEEP_SPREAD, SCALE_DOWN_OF_OWNER } from '../../shared/index.js';
import type { RolloutDraft } from '../draft.js';
import type { RolloutPolicy } from './policy.js';

/** Tells the ReplicaSets that have pods, whose controller chooses which of them go. */
export function noteScaleDown(draft: RolloutDraft, policy: RolloutPolicy | undefined): void {
  for (const set of draft.living) {
    const { [SCALE_DOWN_OF_OWNER]: noted, ...others } = set.annotations;
    const wanted = policy?.keepsSpread && set.replicas > 0 ? KEEP_SPREAD : undefined;
    if (noted === wanted) continue;
    draft.annotate(set, wanted ? { ...others, [SCALE_DOWN_OF_OWNER]: wanted } : others);
  }
}

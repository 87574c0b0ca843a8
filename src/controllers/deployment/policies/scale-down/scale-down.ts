import { KEEP_SPREAD, SCALE_DOWN_OF_OWNER } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { Pass, Policy } from '../common/pass.js';
import type { ScaleDownFields } from './settings.js';

/** The choice of pods that go leaves the others spread. */
export const SCALE_DOWN: Policy<Pass<ScaleDownFields>> = {
  conclude: ({ draft, isDeleted, policy }) => {
    if (!isDeleted) noteScaleDown(draft, policy);
  },
};

/** Notes the policy on the ReplicaSets that have pods: their controller chooses the pods to delete. */
function noteScaleDown(draft: RolloutDraft, { keepsSpread }: ScaleDownFields): void {
  for (const set of draft.living) {
    const { [SCALE_DOWN_OF_OWNER]: noted, ...others } = set.annotations;
    const wanted = keepsSpread && set.replicas > 0 ? KEEP_SPREAD : undefined;
    if (noted === wanted) continue;
    draft.annotate(set, wanted ? { ...others, [SCALE_DOWN_OF_OWNER]: wanted } : others);
  }
}

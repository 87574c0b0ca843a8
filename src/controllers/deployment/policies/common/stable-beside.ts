import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { revisionOf } from '../../kubernetes/revision.js';

/** The version beside the new one with the most pods, of several the newest. */
export function stableBeside(draft: RolloutDraft, latest: ReplicaSetDraft): ReplicaSetDraft | undefined {
  return activeOf(draft.living)
    .filter((set) => set !== latest)
    .sort(
      (a, b) =>
        b.replicas - a.replicas ||
        Number(revisionOf(b) > revisionOf(a)) - Number(revisionOf(b) < revisionOf(a)),
    )
    .at(0);
}

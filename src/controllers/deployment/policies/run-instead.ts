import { isCustomDeployment } from '../deployment-api.js';
import type { ReplicaSetDraft, RolloutDraft } from '../draft.js';
import { latestOf } from '../new-replica-set.js';
import { withoutHash } from '../pod-template.js';

/**
 * Plays the steps as if the Deployment asked for the template of `target`, and leaves what it asks for as it is. No revision
 * changes; of the pods that it asks for, the status counts those that there are.
 */
export function runInstead(draft: RolloutDraft, target: ReplicaSetDraft, play: () => void): void {
  const { spec } = draft;
  const substitute = { ...spec, template: withoutHash(target.template) };
  draft.spec = substitute;
  draft.keepsRevisions = true;
  play();
  draft.keepsRevisions = false;
  draft.spec = spec;
  const updated = latestOf(draft, draft.living)?.status.replicas ?? 0;
  const { updatedReplicas: _played, ...status } = draft.status;
  const isShown = updated > 0 || isCustomDeployment(draft.observed);
  draft.setStatus(isShown ? { ...status, updatedReplicas: updated } : status);
}

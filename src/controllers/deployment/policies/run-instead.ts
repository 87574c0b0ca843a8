import { isCustomDeployment } from '../kubernetes/deployment-api.js';
import type { RolloutDraft } from '../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import { latestOf } from '../kubernetes/new-replica-set.js';
import { withoutHash } from '../kubernetes/pod-template.js';

/**
 * Makes the steps run as if the Deployment asked for the template of `target`. No revision changes; of the pods that the Deployment asks
 * for, the status counts those that there are.
 * @returns puts back what the Deployment asks for, when the steps have been played
 */
export function runInstead(draft: RolloutDraft, target: ReplicaSetDraft): () => void {
  const { spec } = draft;
  draft.spec = { ...spec, template: withoutHash(target.template) };
  draft.keepsRevisions = true;
  return () => {
    draft.keepsRevisions = false;
    draft.spec = spec;
    const updated = latestOf(draft, draft.living)?.status.replicas ?? 0;
    const { updatedReplicas: _played, ...status } = draft.status;
    const isShown = updated > 0 || isCustomDeployment(draft.observed);
    draft.setStatus(isShown ? { ...status, updatedReplicas: updated } : status);
  };
}

export { findCondition } from './conditions.js';
export { decideRollout } from './decide.js';
export type { DecisionContext } from './decide.js';
export { createDeploymentController, deploymentController } from './definition.js';
export type { DeploymentControllerOptions } from './deployment.options.js';
export { RolloutDraft, isObserved } from './draft.js';
export type { ReplicaSetDraft } from './draft.js';
export {
  isRollingUpdate,
  maxSurge,
  maxTotalReplicas,
  maxUnavailable,
  minAvailable,
  replicasOf,
} from './limits.js';
export { netPlan } from './plan.js';
export type { DeploymentPlan, ReplicaSetWrite } from './plan.js';
export { POD_TEMPLATE_HASH, equalIgnoringHash, podTemplateHash } from './pod-template.js';
export { hasProgressDeadline } from './progress.js';
export { ROLLBACK_REVISION_NOT_FOUND } from './reasons.js';
export { readRevision } from './revision.js';
export { stuckCause } from './timeout-cause.js';
export { validateDeployment } from './validate.js';

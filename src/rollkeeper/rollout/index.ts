export { requestOfRollout } from './request-of-rollout.js';
export type { RolloutRequest } from './request-of-rollout.js';
export { followRollout, renderHistory, restartRollout, setPaused, undoRollout } from './rollout-verbs.js';
export type { RolloutTarget, StatusOptions } from './rollout-verbs.js';

export { followRollout, renderHistory, restartRollout, setPaused, undoRollout } from './rollout-verbs.js';
export type { RolloutTarget, StatusOptions } from './rollout-verbs.js';

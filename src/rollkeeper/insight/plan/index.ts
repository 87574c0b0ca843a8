export { renderPlan } from './render-plan.js';
export { simulateRollout } from './simulate-rollout.js';
export type { PlannedStep, RolloutPlan, RolloutQuestion } from './simulate-rollout.js';

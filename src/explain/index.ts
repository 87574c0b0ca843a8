export { classifyPod } from './classify-pod.js';
export type { ClassifiedPod, PodState } from './classify-pod.js';
export { DecisionLog } from './decision-log.js';
export type { Decision, DecisionLogOptions } from './decision-log.js';
export { explainDeployment } from './explain-deployment.js';
export type { ControlKnowledge, ExplainInput, QueueKnowledge } from './explain-input.js';
export type { CauseCode, Explanation, ExplanationState, Finding } from './explanation.js';
export { renderExplanation } from './render-explanation.js';

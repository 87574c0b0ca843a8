export {
  experimentId,
  experimentKeeper,
  experimentMember,
  plannedTemplate,
  portsOf,
} from './build-experiment.js';
export type { ResolvedTemplate } from './build-experiment.js';
export { LONGEST_EXPERIMENT_FILE, parseExperimentFile } from './experiment-file.js';
export type { ExperimentFile, FileCheck, FileTemplate } from './experiment-file.js';
export { EXPERIMENT_STOP, LONGEST_PLAN, keepsExperiment, readPlan, renderPlan } from './experiment-plan.js';
export type { ExperimentPlan } from './experiment-plan.js';
export { readExperimentState } from './experiment-state.js';
export type { ExperimentState, ExperimentVerdict } from './experiment-state.js';
export { createExperimentsController } from './experiments-controller.js';

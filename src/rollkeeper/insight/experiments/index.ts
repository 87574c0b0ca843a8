export { beginExperiment } from './begin-experiment.js';
export {
  renderExperiment,
  renderExperiments,
  renderNumbers,
  reportExperiment,
  stateOf,
} from './experiment-report.js';
export type { ExperimentCheck, ExperimentReport } from './experiment-report.js';
export { listExperiments, readExperiment, stopExperiment, waitForExperiment } from './experiment-verbs.js';

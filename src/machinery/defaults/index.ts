export { omitZero } from './container-defaults.js';
export {
  containersOf,
  defaultDeployment,
  defaultPodOnly,
  defaultPodSpec,
  defaultPodTemplate,
} from './pod-spec-defaults.js';
export { defaultClaimSpec, defaultSourceOf } from './volume-defaults.js';

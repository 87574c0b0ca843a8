export { createDeploymentController, deploymentController } from './definition.js';
export type { DeploymentControllerOptions } from './deployment.options.js';
export { POD_TEMPLATE_HASH, podTemplateHash } from './pod-template.js';

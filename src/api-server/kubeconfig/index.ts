export { writeKubeconfig } from './write-kubeconfig.js';
export type { KubeconfigOptions } from './write-kubeconfig.js';

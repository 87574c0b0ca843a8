export { kubeconfigText, writeKubeconfig } from './write-kubeconfig.js';
export type { KubeconfigContent, KubeconfigOptions } from './write-kubeconfig.js';

export { parseConsoleClusters } from './console-clusters.js';
export type { ConsoleCluster } from './console-clusters.js';
export { OtherClusters } from './other-clusters.js';
export type { ClusterAnswer, ClusterHealth } from './other-clusters.js';

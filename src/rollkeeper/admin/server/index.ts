export { AdminModule } from './admin.module.js';
export type { AdminModuleOptions } from './admin.module.js';
export { AdminPorts } from './admin-ports.js';
export type {
  DeploymentCaches,
  LeaseView,
  Peer,
  PeerRegistry,
  SetCaches,
  SingleUses,
} from './admin-ports.js';
export type { LocalReads } from './decide-access.js';
export type { DeploymentGlance } from './explain.controller.js';
export { PeerClient, proofOf } from './peer-client.js';
export { seenReplicas } from './seen-replicas.js';
export type { ClusterSnapshot, ReplicaView } from './cluster-view.js';
export { startAdminServer } from './nest-admin-server.js';
export type { AdminServer } from './nest-admin-server.js';
export type { LeadershipStatus, ReplicaStatus, StatusSource } from './status-source.js';
export type { QueueAnswer } from './queues.controller.js';

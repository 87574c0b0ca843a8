export { AdminModule } from './admin.module.js';
export type { AdminModuleAsyncOptions, AdminModuleOptions } from './admin.module.js';
export type { AdminPorts, DeploymentCaches, LeaseView, Peer, PeerRegistry } from './admin-ports.js';
export type { ClusterSnapshot, ReplicaView } from './cluster-view.js';
export { startAdminServer } from './nest-admin-server.js';
export type { AdminServer } from './nest-admin-server.js';
export type { LeadershipStatus, ReplicaStatus, StatusSource } from './status-source.js';
export type { QueueAnswer } from './queues.controller.js';

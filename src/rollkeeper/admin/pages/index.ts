export { createAdminPorts } from './admin-ports.js';
export type { AdminTls } from './admin-tls.js';
export { decideAdminTls, loadAdminCertificate } from './admin-tls.js';
export { readAdminToken } from './admin-token.js';
export { announceReplica } from './announce-replica.js';
export type { OnServing } from './announce-replica.js';
export { replicaRegistry } from './replica-registry.js';
export type { ReplicaRegistry } from './replica-registry.js';
export { ReplicaStatusSource } from './replica-status.js';

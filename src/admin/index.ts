export { AdminModule } from './admin.module.js';
export type { AdminModuleAsyncOptions, AdminModuleOptions } from './admin.module.js';
export { startAdminServer } from './nest-admin-server.js';
export type { AdminServer } from './nest-admin-server.js';
export type { LeadershipStatus, ReplicaStatus, StatusSource } from './status-source.js';

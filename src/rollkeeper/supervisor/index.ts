export { readAdminToken } from './credentials.js';
export { withRedisOfDataFolder } from './redis-of-data-folder.js';
export type { DataFolderOptions } from './redis-of-data-folder.js';
export { readUpStatus, renderUpStatus } from './status.js';
export type { ReplicaLine, UpStatus } from './status.js';
export { Supervisor } from './supervisor.js';
export type { SupervisorOptions, UpSummary } from './supervisor.js';
export { compileUpOptions } from './up.options.js';
export type { CompiledUpOptions, UpOptions } from './up.options.js';

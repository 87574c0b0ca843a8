export { EventLoopMonitor, HealthRegistry } from './health-check.js';
export type { HealthCheck, HealthEndpoint, HealthNote } from './health-check.js';

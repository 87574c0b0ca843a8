export { EventLoopMonitor } from './event-loop-check.js';
export { HealthRegistry } from './health-check.js';
export type { HealthCheck, HealthEndpoint, HealthNote } from './health-check.js';

export { withMemoryDefaults } from './memory-environment.js';
export { failProcess, runUntilStopped, tellParent } from './process-lifecycle.js';
export type { ChildMessage } from './process-lifecycle.js';

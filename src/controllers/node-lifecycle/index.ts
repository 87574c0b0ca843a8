export { nodeLifecycleController } from './node-lifecycle-controller.js';
export { taintEvictionController } from './taint-eviction-controller.js';

export {
  createGarbageCollectorController,
  garbageCollectorController,
} from './garbage-collector-definition.js';
export { compileGarbageCollectorOptions } from './garbage-collector.options.js';
export type {
  CompiledGarbageCollectorOptions,
  GarbageCollectorOptions,
} from './garbage-collector.options.js';
export { itemRef, parseItemRef } from './item-key.js';

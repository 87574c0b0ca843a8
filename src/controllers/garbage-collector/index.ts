export {
  createGarbageCollectorController,
  garbageCollectorController,
} from './garbage-collector-definition.js';

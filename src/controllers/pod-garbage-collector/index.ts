export { podGarbageCollectorController } from './pod-garbage-collector.js';

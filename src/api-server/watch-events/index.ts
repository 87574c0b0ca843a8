export { SharedEvent, SharedEvents } from './shared-events.js';

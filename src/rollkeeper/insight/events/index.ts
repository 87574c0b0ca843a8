export { parseSinks } from './event-sink.js';
export type { EventSink } from './event-sink.js';
export { RolloutEvents } from './rollout-events.js';
export type { SendResult } from './rollout-events.js';

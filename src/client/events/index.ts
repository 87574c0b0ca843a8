export { ApiEventRecorder } from './api-event-recorder.js';
export type { ApiEventRecorderDependencies } from './api-event-recorder.js';
export type { EventLedger, SeriesName, SimilarGroup } from './event-ledger.js';
export type { EventObject, EventSource } from './event-object.js';
export type {
  EventEnd,
  EventNote,
  EventRecorder,
  EventRecorderMetrics,
  EventType,
} from './event-recorder.js';
export { compileEventRecorderOptions } from './event-recorder.options.js';
export type { CompiledEventRecorderOptions, EventRecorderOptions } from './event-recorder.options.js';

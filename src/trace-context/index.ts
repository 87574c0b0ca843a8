export {
  TRACE_ANNOTATION,
  TRACE_CONTINUES_MS,
  activeAnnotation,
  annotateWithActiveSpan,
  coveredByWriteOf,
  traceOf,
  writeOf,
} from './trace-annotation.js';
export type { AnnotatedTrace } from './trace-annotation.js';
export {
  coverRequests,
  coveredBySpan,
  isCovered,
  readTraceHeaders,
  writeTraceHeaders,
} from './request-trace.js';
export {
  activeTraceparent,
  contextOfTraceparent,
  formatTraceparent,
  linksTo,
  parseTraceparent,
} from './traceparent.js';

export {
  TRACE_ANNOTATION,
  TRACE_CONTINUES_MS,
  activeAnnotation,
  annotateWithActiveSpan,
  coveredByWriteOf,
  isWrittenIn,
  traceOf,
  writeOf,
} from './trace-annotation.js';
export type { AnnotatedTrace } from './trace-annotation.js';
export {
  coverRequests,
  coveredBySpan,
  isCovered,
  readTraceHeaders,
  tellStatus,
  writeTraceHeaders,
} from './request-trace.js';
export type { CoveredRequest } from './request-trace.js';
export {
  activeTraceparent,
  contextOfTraceparent,
  formatTraceparent,
  linksTo,
  parseTraceparent,
} from './traceparent.js';

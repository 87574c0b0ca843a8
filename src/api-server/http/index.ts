export { ApiRequest } from './api-request.js';
export { created, ok } from './api-response.js';
export type { ApiResponse, ObjectResponse, RawResponse, StreamResponse } from './api-response.js';
export { tagged, unlessKnown } from './conditional.js';
export { negotiate } from './negotiate.js';
export type { Negotiated } from './negotiate.js';
export { send, sendError } from './send.js';
export { RequestSignals } from './request-signals.js';

export { ApiRequest } from './api-request.js';
export type { RequestHost } from './api-request.js';
export { created, METRICS_TYPE, ok, plainText } from './api-response.js';
export type {
  ApiResponse,
  MessageConnection,
  RawResponse,
  StreamResponse,
  UpgradeResponse,
} from './api-response.js';
export { AnswerOrder } from './answer-order.js';
export { ByteBudget } from './byte-budget.js';
export type { Reservation } from './byte-budget.js';
export { Connections } from './connections.js';
export { createListener } from './listener.js';
export { endUnfinished } from './linger.js';
export { etagOf, tagged, unlessKnown, unlessKnownAs } from './conditional.js';
export { acceptClauses, acceptsGzip, checkRepresentable, formatOfRefusal, negotiate } from './negotiate.js';
export { isPrettyAsked } from './pretty-json.js';
export { yamlItem, yamlText } from './yaml-writer.js';
export type { Format, Negotiated } from './negotiate.js';
export { flowOf } from './flow-of.js';
export { RequestGate } from './request-gate.js';
export type { RequestSort } from './request-gate.js';
export { parseResourcePath } from './resource-path.js';
export type { ResourcePath } from './resource-path.js';
export { commonHeaders, rawOf, refusalOf, send, sendError } from './send.js';
export { RequestSignals } from './request-signals.js';
export { compileServerLimits } from './server-limits.js';
export type { CompiledServerLimits, ServerLimits } from './server-limits.js';
export { Upgrades } from './upgrade.js';

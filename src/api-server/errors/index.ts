export { StatusError } from './status-error.js';
export type { StatusBody, StatusCause, StatusDetails, StatusSubject } from './status-error.js';
export {
  alreadyExists,
  applyConflict,
  badRequest,
  conflict,
  expired,
  forbidden,
  internalError,
  invalid,
  methodNotAllowed,
  notAcceptable,
  notFound,
  notImplemented,
  requestTooLarge,
  resourceVersionTooLarge,
  serverTimeout,
  serviceUnavailable,
  unauthorized,
  unknownPath,
  unprocessable,
  unsupportedMediaType,
} from './status-errors.js';

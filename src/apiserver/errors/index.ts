export { shortened, StatusError } from './status-error.js';
export type { FieldError, FieldErrorType } from './status-errors.js';
export type { StatusBody, StatusCause, StatusDetails, StatusSubject } from './status-error.js';
export {
  alreadyExists,
  applyConflict,
  badRequest,
  bodyTooLarge,
  conflict,
  evictionRefused,
  expired,
  forbidden,
  internalError,
  invalid,
  kubeletUnreachable,
  methodNotAllowed,
  notAcceptable,
  notFound,
  requestTooLarge,
  resourceVersionTooLarge,
  serverTimeout,
  serviceUnavailable,
  severalBudgets,
  tooManyRequests,
  unauthorized,
  unknownPath,
  unprocessable,
  unsupportedMediaType,
} from './status-errors.js';

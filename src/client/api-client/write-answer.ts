import { errorCode } from '@rollkeeper/machinery/errors';
import { apiStatusOf } from './api-status-error.js';

/**
 * The outcome of a write, as its error shows it:
 *
 * - `refused`: it was not stored.
 * - `failed`: the server has finished, but it is unknown or unreliable whether the write was stored.
 * - `none`: no answer; it may never have arrived, be stored, or be stored in a moment.
 */
export type WriteAnswer = 'refused' | 'failed' | 'none';

/** Error codes of Node's resolver and sockets, and of undici, for connections that were never established. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The only place that interprets a failed write. */
export function writeAnswerOf(error: unknown): WriteAnswer {
  const status = apiStatusOf(error);
  if (!status) return wasNeverSent(error) ? 'refused' : 'none';
  // A server or proxy answers 408 and 504 when it has stopped waiting for the work.
  if (status.code === 408 || status.code === 504) return 'none';
  // 503 with Retry-After comes from priority and fairness, or a server that does not serve yet: before any work.
  if (status.code === 503 && status.details?.retryAfterSeconds !== undefined) return 'refused';
  return status.code >= 500 ? 'failed' : 'refused';
}

function wasNeverSent(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (NEVER_CONNECTED.has(errorCode(current))) return true;
  }
  return false;
}

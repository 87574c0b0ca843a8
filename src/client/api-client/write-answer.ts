import { apiStatusOf } from './api-status-error.js';

/**
 * What the error of a write says about the write:
 *
 * - `refused`: it was not stored.
 * - `failed`: the server has ended its work on it, and does not know, or cannot be trusted to know, whether it was stored.
 * - `none`: no answer came; it may never have arrived, be stored, or be stored in a moment.
 */
export type WriteAnswer = 'refused' | 'failed' | 'none';

/** What Node's resolver and sockets, and undici, say of connections that were never made. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The one place that says what is known of a write that did not succeed. */
export function writeAnswerOf(error: unknown): WriteAnswer {
  const status = apiStatusOf(error);
  if (!status) return wasNeverSent(error) ? 'refused' : 'none';
  // 408 and 504 are what a server, or a proxy, says when it has stopped waiting for the work.
  if (status.code === 408 || status.code === 504) return 'none';
  // 503 with Retry-After is priority and fairness, or a server that does not serve yet: before any work.
  if (status.code === 503 && status.details?.retryAfterSeconds !== undefined) return 'refused';
  return status.code >= 500 ? 'failed' : 'refused';
}

function wasNeverSent(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (NEVER_CONNECTED.has((current as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}

import { apiStatusOf, isNamespaceTerminating } from '@rollkeeper/client/api-client/api-status-error';
import { hasCode, errorMessage } from '@rollkeeper/machinery/errors';
import type { EventNote } from '@rollkeeper/client/events/event-recorder';

/**
 * What can cure a failure:
 *
 * - `transient`: trying again, soon: the next try meets another state of the world, or the server is back.
 * - `blocked`: others, in their own time: a quota must get room, a right must be granted. Trying again helps, but calmly.
 * - `refused`: the API server has judged what was written, and would judge it the same again: another object, template
 *   or policy is needed.
 * - `terminal`: the reconciler says that it cannot act on the object as it is.
 */
export type FailureClass = 'transient' | 'blocked' | 'refused' | 'terminal';

/**
 * Codes that judge the request by its content: bad request, method not allowed, not acceptable, too large, unsupported media
 * type, invalid. The others are about the state of the object (404, 409, 410), of the credentials (401, renewed by the next
 * try) or of the server (408, 429, 5xx).
 */
const JUDGED_BY_CONTENT: ReadonlySet<number> = new Set([400, 405, 406, 413, 415, 422]);

/**
 * What a 403 says that time or others may cure; what remains is a policy's answer. Sources: k/k
 * plugin/pkg/admission/resourcequota and priority, pkg/admission/plugin/runtimeclass, and `forbiddenMessage` in apiserver
 * endpoints/handlers/responsewriters. An authorizer says no to everybody for a moment after the server's start, too.
 */
const BLOCKED_BY_OTHERS: readonly RegExp[] = [
  /exceeded quota: /,
  /status unknown for quota: /,
  /^User ".*" cannot |: User ".*" cannot /,
  /no PriorityClass with name .* was found/,
  /RuntimeClass ".*" not found/,
];

/** A service account that is missing comes with its namespace, a moment later. */
const MISSING_SERVICE_ACCOUNT = /error looking up service account /;

/** The one place that says which failures of a sync a retry may cure. */
export function classifyFailure(error: unknown): FailureClass {
  if (hasCode(error, 'TERMINAL')) return 'terminal';
  const { code = 0, message = '' } = apiStatusOf(error) ?? {};
  if (JUDGED_BY_CONTENT.has(code)) return 'refused';
  if (code !== 403 || MISSING_SERVICE_ACCOUNT.test(message)) return 'transient';
  const isBlocked =
    isNamespaceTerminating(error) || BLOCKED_BY_OTHERS.some((pattern) => pattern.test(message));
  return isBlocked ? 'blocked' : 'refused';
}

/** Of the error, so that the note stays within the 1024 characters that newer event APIs allow. Characters. */
const LONGEST_ERROR = 700;

/**
 * The Warning on an object whose key was parked: why, and how it is tried again. The same error makes the same words, so that
 * Events are counted and not added.
 */
export function parkedNote(controller: string, key: string, error: unknown): EventNote {
  const text = errorMessage(error);
  const why = text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR - 1)}…` : text;
  return {
    type: 'Warning',
    reason: 'SyncParked',
    message: `The ${controller} controller has given up for now: ${why}. It tries again when the object changes, every few minutes, or with: rollkeeper queue unpark ${controller} ${quoted(key)}`,
  };
}

/** For a shell: the collector's keys hold a `|`. */
function quoted(key: string): string {
  return /^[\w./-]+$/.test(key) ? key : `'${key}'`;
}

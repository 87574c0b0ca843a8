import { apiStatusOf, isNamespaceTerminating } from '@rollkeeper/client/api-client/api-status-error';
import { hasCode, errorMessage } from '@rollkeeper/machinery/errors';
import type { EventNote } from '@rollkeeper/client/events/event-recorder';

/**
 * The class of a failure, by what can resolve it:
 *
 * - `transient`: a retry soon: the next attempt meets another state, or the server is back.
 * - `blocked`: others, in their own time: a quota must get room, a right must be granted. Retries help, but rarely.
 * - `refused`: the API server has judged the written content, and would judge it the same again: another object,
 *   template or policy is needed.
 * - `terminal`: the reconciler cannot act on the object as it is.
 */
export type FailureClass = 'transient' | 'blocked' | 'refused' | 'terminal';

/**
 * Codes that judge the content of the request: bad request, method not allowed, not acceptable, too large, unsupported
 * media type, invalid. Others concern the state of the object (404, 409, 410), the credentials (401, renewed by the
 * next attempt) or the server (408, 429, 5xx).
 */
const JUDGED_BY_CONTENT: ReadonlySet<number> = new Set([400, 405, 406, 413, 415, 422]);

/**
 * Messages of a 403 that time or others may resolve; any other 403 comes from a policy. Sources: k/k
 * plugin/pkg/admission/resourcequota and priority, pkg/admission/plugin/runtimeclass, and `forbiddenMessage` in
 * apiserver endpoints/handlers/responsewriters. Authorizers also deny every request for a moment after the server
 * starts. Each is a text, or two texts with any name between them. No patterns: users choose the names, which may repeat
 * the first text thousands of times.
 */
const BLOCKED_BY_OTHERS: readonly (readonly [string, string])[] = [
  ['exceeded quota: ', ''],
  ['status unknown for quota: ', ''],
  [': User "', '" cannot '],
  ['no PriorityClass with name ', ' was found'],
  ['RuntimeClass "', '" not found'],
];

/** A missing service account is created with its namespace, a moment later. */
const MISSING_SERVICE_ACCOUNT = /error looking up service account /;

/** The only place that decides which failures of a sync a retry may resolve. */
export function classifyFailure(error: unknown): FailureClass {
  if (hasCode(error, 'TERMINAL')) return 'terminal';
  const { code = 0, message = '' } = apiStatusOf(error) ?? {};
  if (JUDGED_BY_CONTENT.has(code)) return 'refused';
  if (code !== 403 || MISSING_SERVICE_ACCOUNT.test(message)) return 'transient';
  // A refusal may begin with the user.
  const text = `: ${message}`;
  const isBlocked =
    isNamespaceTerminating(error) || BLOCKED_BY_OTHERS.some((texts) => hasInOrder(text, ...texts));
  return isBlocked ? 'blocked' : 'refused';
}

/** At a cost that grows no faster than the message. */
function hasInOrder(message: string, first: string, second: string): boolean {
  const at = message.indexOf(first);
  return at >= 0 && message.lastIndexOf(second) >= at + first.length;
}

/** Limit of the error's length, so that the note stays within the 1024 characters of newer event APIs. Characters. */
const LONGEST_ERROR = 700;

/**
 * The Warning on an object whose key was parked: the reason, and when it is retried. The same error gives the same
 * text, so that Events are counted instead of added.
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

/** For a shell: the collector's keys contain a `|`. */
function quoted(key: string): string {
  return /^[\w./-]+$/.test(key) ? key : `'${key}'`;
}

/** Stable machine-readable codes of our own errors. Retired codes are never reused. */
export type ErrorCode =
  | 'INVALID_OPTION'
  | 'UNSUPPORTED'
  | 'ILLEGAL_STATE'
  | 'LEASE_LOST'
  | 'SUPERSEDED'
  | 'KEY_LOCK_LOST'
  | 'KEY_LOCK_HELD'
  | 'SHUTDOWN'
  | 'TERMINAL'
  | 'TIMEOUT'
  | 'SYNC_TIMEOUT'
  | 'STALE_CACHE'
  | 'WRITE_UNDER_WAY'
  | 'NEWER_STATE'
  | 'NAME_TAKEN'
  | 'STARTUP'
  | 'CREDENTIAL_REFUSED'
  | 'WRONG_CERTIFICATE'
  | 'DER'
  | 'STORAGE_EXISTS'
  | 'STORAGE_NOT_FOUND'
  | 'STORAGE_CONFLICT'
  | 'STORAGE_EXPIRED'
  | 'STORAGE_TOO_LARGE'
  | 'STORAGE_UNREADABLE'
  | 'STORAGE_UNAVAILABLE';

/** A failure that its message explains completely: not a bug, so the stack is not shown. */
export abstract class ExpectedError extends Error {}

/** Base of every error that Rollkeeper itself raises; `code` is for programs, `message` for people. */
export abstract class RollkeeperError extends ExpectedError {
  abstract readonly code: ErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An option is missing, malformed, or contradicts another. Names the option. */
export class InvalidOptionError extends RollkeeperError {
  readonly code = 'INVALID_OPTION';

  constructor(
    readonly option: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${option}: ${problem}`, options);
  }
}

/** The request is for something known but not implemented. Names it. */
export class UnsupportedError extends RollkeeperError {
  readonly code = 'UNSUPPORTED';
}

/** Methods were called in the wrong order, for example `run` twice. */
export class IllegalStateError extends RollkeeperError {
  readonly code = 'ILLEGAL_STATE';
}

/** The new ReplicaSet of a Deployment cannot have its name: another object repeatedly has it. */
export class NameTakenError extends RollkeeperError {
  readonly code = 'NAME_TAKEN';
}

/** We no longer hold the leader lease, or cannot prove that we do. Abort reason of leading work. */
export class LeaseLostError extends RollkeeperError {
  readonly code = 'LEASE_LOST';
}

/**
 * The target refused an operation of a leadership term that is not valid there: a newer term has begun, or no term is
 * known.
 */
export class SupersededError extends RollkeeperError {
  readonly code = 'SUPERSEDED';
  /** The epoch valid there; 0 if none is. */
  readonly epoch: number;

  constructor(message: string, options: ErrorOptions & { readonly epoch: number }) {
    super(message, options);
    this.epoch = options.epoch;
  }
}

/** The lock of a key could not be renewed in time. Abort reason of an activation. */
export class KeyLockLostError extends RollkeeperError {
  readonly code = 'KEY_LOCK_LOST';
}

/** Another worker has this key right now. Retry a little later. */
export class KeyLockHeldError extends RollkeeperError {
  readonly code = 'KEY_LOCK_HELD';
  /** Remaining duration of the lock unless it is renewed, if known. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** We are stopping. Abort reason of every clean stop. */
export class ShutdownError extends RollkeeperError {
  readonly code = 'SHUTDOWN';
}

/** Retrying cannot help until the object changes: the key is parked at once, with a rare retry. */
export class TerminalError extends RollkeeperError {
  readonly code = 'TERMINAL';
}

/** A bounded wait timed out. */
export class TimeoutError extends RollkeeperError {
  readonly code = 'TIMEOUT';
}

/** A sync exceeded its time limit. Reason of its abort; its key is retried with backoff. */
export class SyncTimeoutError extends RollkeeperError {
  readonly code = 'SYNC_TIMEOUT';
}

/** The cache has not caught up with a resourceVersion that this work must have seen. Retryable. */
export class StaleCacheError extends RollkeeperError {
  readonly code = 'STALE_CACHE';
}

/** A write of an earlier sync has no answer, and the server may still be executing it. Retry a little later. */
export class WriteUnderWayError extends RollkeeperError {
  readonly code = 'WRITE_UNDER_WAY';

  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}

/** Stored by a newer release, which we must not misread. Replicas of that release handle it; we retry later. */
export class NewerStateError extends RollkeeperError {
  readonly code = 'NEWER_STATE';
}

/** The process could not start; the message is the one line shown to the user. */
export class StartupError extends RollkeeperError {
  readonly code = 'STARTUP';
}

/** Whether `error`, or anything in its chain of causes, is one of ours with this code. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof RollkeeperError && current.code === code) return true;
  }
  return false;
}

/** Whether work ended because it was cancelled rather than by a fault of its own. */
export function isCancellation(error: unknown): boolean {
  return hasCode(error, 'SHUTDOWN') || hasCode(error, 'LEASE_LOST') || hasCode(error, 'KEY_LOCK_LOST');
}

/** The `code` of an error of the system or of a library; `undefined` if there is none. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** The thrown value, if it is an Error; anything else is wrapped in one. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
}

/** A readable message for any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

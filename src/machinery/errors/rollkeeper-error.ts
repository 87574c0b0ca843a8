/** Stable machine-readable codes of our own errors. A retired code is never used again. */
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
  | 'WRONG_CERTIFICATE'
  | 'DER'
  | 'STORAGE_EXISTS'
  | 'STORAGE_NOT_FOUND'
  | 'STORAGE_CONFLICT'
  | 'STORAGE_EXPIRED'
  | 'STORAGE_TOO_LARGE'
  | 'STORAGE_UNREADABLE'
  | 'STORAGE_UNAVAILABLE';

/** A failure that its message tells whole: no bug, so that nobody needs its stack. */
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

/** Asked for something that we know of and do not have. Names it. */
export class UnsupportedError extends RollkeeperError {
  readonly code = 'UNSUPPORTED';
}

/** The caller broke the order of calls, for example `run` twice. */
export class IllegalStateError extends RollkeeperError {
  readonly code = 'ILLEGAL_STATE';
}

/** The new ReplicaSet of a Deployment cannot have its name: another object has it, again. */
export class NameTakenError extends RollkeeperError {
  readonly code = 'NAME_TAKEN';
}

/** We no longer hold the leader lease, or cannot prove that we do. Reason of the leading work's abort. */
export class LeaseLostError extends RollkeeperError {
  readonly code = 'LEASE_LOST';
}

/**
 * Refused where it was to have its effect, because it was done for a term of leadership that does not count there: a
 * newer one has begun, or nothing is known of any.
 */
export class SupersededError extends RollkeeperError {
  readonly code = 'SUPERSEDED';
  /** The epoch that counts there; 0: none does. */
  readonly epoch: number;

  constructor(message: string, options: ErrorOptions & { readonly epoch: number }) {
    super(message, options);
    this.epoch = options.epoch;
  }
}

/** The lock of a key could not be renewed in time. Reason of an activation's abort. */
export class KeyLockLostError extends RollkeeperError {
  readonly code = 'KEY_LOCK_LOST';
}

/** Somebody else works on this key right now. Come back a little later. */
export class KeyLockHeldError extends RollkeeperError {
  readonly code = 'KEY_LOCK_HELD';
  /** How long the lock lasts unless it is renewed, when known. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** We are stopping. Reason of every abort that a clean stop causes. */
export class ShutdownError extends RollkeeperError {
  readonly code = 'SHUTDOWN';
}

/** Trying again cannot help until the object changes: the key is parked at once, with a try now and then. */
export class TerminalError extends RollkeeperError {
  readonly code = 'TERMINAL';
}

/** A bounded wait ran out. */
export class TimeoutError extends RollkeeperError {
  readonly code = 'TIMEOUT';
}

/** A sync took longer than it may. Reason of its abort; its key is tried again with backoff. */
export class SyncTimeoutError extends RollkeeperError {
  readonly code = 'SYNC_TIMEOUT';
}

/** The cache has not caught up with a resourceVersion that this work must have seen. Retryable. */
export class StaleCacheError extends RollkeeperError {
  readonly code = 'STALE_CACHE';
}

/** A write of an earlier sync came to no answer, and the server may still be at work on it. Come back a little later. */
export class WriteUnderWayError extends RollkeeperError {
  readonly code = 'WRITE_UNDER_WAY';

  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}

/** Stored by a newer release, which we must not misread. Its own replicas take care of it; we come back later. */
export class NewerStateError extends RollkeeperError {
  readonly code = 'NEWER_STATE';
}

/** A process could not come up; the message is the one line a user is shown. */
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

/** Whether work ended because it was told to stop, rather than by a fault of its own. */
export function isCancellation(error: unknown): boolean {
  return hasCode(error, 'SHUTDOWN') || hasCode(error, 'LEASE_LOST') || hasCode(error, 'KEY_LOCK_LOST');
}

/** A message for people out of whatever was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { RollkeeperError, hasCode } from '@rollkeeper/machinery/errors';
import type { Revision, StorageKey, StoredObject } from './storage.js';

/** An object with this key is there already. */
export class StorageExistsError extends RollkeeperError {
  readonly code = 'STORAGE_EXISTS';

  constructor(readonly key: StorageKey) {
    super(`${describeKey(key)} already exists`);
  }
}

/** There is no object with this key. */
export class StorageNotFoundError extends RollkeeperError {
  readonly code = 'STORAGE_NOT_FOUND';

  constructor(readonly key: StorageKey) {
    super(`${describeKey(key)} does not exist`);
  }
}

/** The object is at another revision than the caller expected. */
export class StorageConflictError extends RollkeeperError {
  readonly code = 'STORAGE_CONFLICT';

  constructor(
    readonly key: StorageKey,
    readonly expectedRevision: Revision,
    /** The stored object: the caller can decide again without another read. */
    readonly current: StoredObject,
  ) {
    super(`${describeKey(key)} is at revision ${current.revision}, not at ${expectedRevision}`);
  }
}

/** The state or the events that were asked for are not kept any more, or belong to a history that was lost. */
export class StorageExpiredError extends RollkeeperError {
  readonly code = 'STORAGE_EXPIRED';

  constructor(
    /** The revision that was asked for. */
    readonly revision: Revision,
    reason: string,
  ) {
    super(`revision ${revision} is not available: ${reason}`);
  }
}

/** The object is larger than the store takes; nothing was written. */
export class StorageTooLargeError extends RollkeeperError {
  readonly code = 'STORAGE_TOO_LARGE';

  constructor(
    /** Characters of JSON. */
    readonly maxLength: number,
  ) {
    super(`an object may have at most ${maxLength} characters of JSON`);
  }
}

/** The stored value is no object. It can still be deleted. */
export class StorageUnreadableError extends RollkeeperError {
  readonly code = 'STORAGE_UNREADABLE';
}

/** The link to the store failed. A write may or may not have happened. */
export class StorageUnavailableError extends RollkeeperError {
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** The store has answered that it takes no writes for now: a full disk, no memory. Nothing was written. */
export class StorageRefusesError extends StorageUnavailableError {}

/** Like its siblings, also true for an error that was caused by one. */
export function isStorageExists(error: unknown): boolean {
  return hasCode(error, 'STORAGE_EXISTS');
}

export function isStorageNotFound(error: unknown): boolean {
  return hasCode(error, 'STORAGE_NOT_FOUND');
}

export function isStorageConflict(error: unknown): boolean {
  return hasCode(error, 'STORAGE_CONFLICT');
}

export function isStorageExpired(error: unknown): boolean {
  return hasCode(error, 'STORAGE_EXPIRED');
}

export function isStorageTooLarge(error: unknown): boolean {
  return hasCode(error, 'STORAGE_TOO_LARGE');
}

export function isStorageUnreadable(error: unknown): boolean {
  return hasCode(error, 'STORAGE_UNREADABLE');
}

export function isStorageUnavailable(error: unknown): boolean {
  return hasCode(error, 'STORAGE_UNAVAILABLE');
}

/** Redis has answered, and did nothing: out of memory, read-only, still loading. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Redis has no memory left for what would need more. */
export function isOutOfMemory(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('OOM ');
}

function describeKey(key: StorageKey): string {
  return `${key.resource} "${key.namespace ? `${key.namespace}/` : ''}${key.name}"`;
}

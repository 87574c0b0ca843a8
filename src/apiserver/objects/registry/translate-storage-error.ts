import {
  alreadyExists,
  bodyTooLarge,
  conflict,
  expired,
  internalError,
  notFound,
  serviceUnavailable,
  StatusError,
} from '../../schema/errors/index.js';
import {
  StorageConflictError,
  StorageExistsError,
  StorageExpiredError,
  StorageNotFoundError,
  StorageRefusesError,
  StorageTooLargeError,
  StorageUnavailableError,
  StorageUnreadableError,
} from '../../storage/index.js';
import type { ObjectTarget } from './registry-context.js';

/** Says what the store said in the words of the API; anything unknown is left as it is. */
export function translateStorageError(error: unknown, target: ObjectTarget): unknown {
  const { type } = target.kind;
  if (error instanceof StatusError) return error;
  if (error instanceof StorageExistsError) return alreadyExists(type, target.name);
  if (error instanceof StorageNotFoundError) return notFound(type, target.name);
  if (error instanceof StorageConflictError) return conflict(type, target.name);
  return translateStoreFailure(error);
}

/** The same for failures that are about no single object. */
export function translateStoreFailure(error: unknown): unknown {
  if (error instanceof StorageExpiredError) return expired(error.message);
  if (error instanceof StorageTooLargeError) return bodyTooLarge(error.maxLength);
  if (error instanceof StorageUnreadableError)
    return internalError(`${error.message}: it can only be deleted, by its name`, error);
  if (error instanceof StorageUnavailableError) return serviceUnavailable(unavailableText(error), error);
  return error;
}

/** A cause that people can mend is named; nothing but a full disk or memory is certain to have changed nothing. */
function unavailableText(error: StorageUnavailableError): string {
  const why = error instanceof StorageRefusesError ? refusedFor(error.message) : undefined;
  return why === undefined
    ? 'the store does not answer; the request may or may not have been carried out'
    : `the store takes no writes, because ${why}; nothing has been changed, and reads go on`;
}

function refusedFor(message: string): string | undefined {
  if (message.includes('No space left on device')) return 'its disk is full';
  if (message.includes('MISCONF')) return 'it cannot write to its disk';
  return message.includes('OOM ') ? 'its memory is full (deletions are carried out)' : undefined;
}

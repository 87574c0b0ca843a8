import { notFound, serverTimeout, StatusError } from '../../schema/errors/index.js';
import { isStorageConflict, isStorageNotFound, isStorageTooLarge } from '../../storage/index.js';
import type { StoredObject } from '../../storage/index.js';
import { MAX_UPDATE_ATTEMPTS, storageKeyOf } from './registry-context.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { translateStorageError } from './translate-storage-error.js';

/** The state that an attempt starts from. */
export interface Newest {
  readonly stored: StoredObject;
  /** Read for this request. Otherwise it is what this process remembers, which proves nothing unless a write succeeds. */
  readonly isFresh: boolean;
}

/**
 * Lets `attempt` change an object from its newest state, and retries after a concurrent change, which it reports by
 * `undefined`. The first attempt starts from what this process remembers, which saves a read if it is current; the
 * store's comparison of revisions decides. If it fails in any way that an outdated state could explain, it is
 * discarded: the store is read and the attempt repeated. (`origStateIsCurrent` in apiserver's etcd3 store.)
 * @throws StatusError
 */
export async function fromNewest<R>(
  context: RegistryContext,
  target: ObjectTarget,
  verb: 'update' | 'delete',
  attempt: (newest: Newest) => Promise<R | undefined>,
): Promise<R> {
  try {
    const known = context.storage.recall(storageKeyOf(target));
    const early = known && (await tryKnown(known, attempt));
    if (early !== undefined) return early;
    for (let attempts = 1; attempts <= MAX_UPDATE_ATTEMPTS; attempts++) {
      const stored = await context.storage.get(storageKeyOf(target));
      if (!stored) throw notFound(target.kind.type, target.name);
      const done = await attempt({ stored, isFresh: true });
      if (done !== undefined) return done;
    }
  } catch (error) {
    throw translateStorageError(error, target);
  }
  throw serverTimeout(target.kind.type, verb);
}

async function tryKnown<R>(
  known: StoredObject,
  attempt: (newest: Newest) => Promise<R | undefined>,
): Promise<R | undefined> {
  try {
    return await attempt({ stored: known, isFresh: false });
  } catch (error) {
    if (mayBeOutdated(error)) return undefined;
    throw error;
  }
}

/**
 * Whether another state of the object could have led to another result. False if it is unknown whether it was written.
 */
function mayBeOutdated(error: unknown): boolean {
  return (
    error instanceof StatusError ||
    isStorageConflict(error) ||
    isStorageNotFound(error) ||
    isStorageTooLarge(error)
  );
}

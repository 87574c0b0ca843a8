import { notFound, resourceVersionTooLarge } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import { storageKeyOf, translateStorageError } from '../registry/index.js';
import type { ObjectTarget, RegistryContext } from '../registry/index.js';
import type { ObjectState } from '../../storage/index.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { parseVersion } from './list-options.js';

/** `GET` of one object, or of its `status`, which shows the whole object. */
export async function handleGet(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { query } = call.request;
  if (query.size > 0) await checkVersion(context, call);
  return respondWithObject(context, call, await getState(context, call));
}

/**
 * The shown state is the newest one, and so none is older than the one that is asked for, unless it is still to come.
 * @throws StatusError 400 or 500 for what is no version, 504 for one that the store has not reached
 */
async function checkVersion({ storage }: RegistryContext, { kind, request }: ResourceCall): Promise<void> {
  const version = parseVersion(request.query, kind.isListedFromStore ? 'list' : 'other');
  if (!version) return;
  const current = await storage.currentRevision();
  if (version > current) throw resourceVersionTooLarge(version, current);
}

/** @throws StatusError 404 */
export async function getState(context: RegistryContext, target: ObjectTarget): Promise<ObjectState> {
  try {
    const stored = await context.storage.get(storageKeyOf(target));
    if (stored) return stored;
  } catch (error) {
    throw translateStorageError(error, target);
  }
  throw notFound(target.kind.type, target.name);
}

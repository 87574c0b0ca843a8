import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { notFound } from '../errors/index.js';
import { ok } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import { storageKeyOf, translateStorageError } from '../registry/index.js';
import type { ObjectTarget, RegistryContext } from '../registry/index.js';
import { presentObject } from '../table/index.js';
import type { ResourceCall } from './handler.js';

/** `GET` of one object, or of its `status`, which shows the whole object. */
export async function handleGet(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const object = await getObject(context, call);
  return ok(presentObject(object, call.kind, call, context.clock.now()));
}

/** @throws StatusError 404 */
export async function getObject(context: RegistryContext, target: ObjectTarget): Promise<UnstructuredObject> {
  try {
    const stored = await context.storage.get(storageKeyOf(target));
    if (stored) return stored.object as UnstructuredObject;
  } catch (error) {
    throw translateStorageError(error, target);
  }
  throw notFound(target.kind.type, target.name);
}

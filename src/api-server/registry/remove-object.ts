import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import type { Revision } from '../storage/index.js';
import { observeRemoval } from './observe-write.js';
import { storageKeyOf } from './registry-context.js';
import { releaseReservations } from './reservations.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

/**
 * Takes an object out of the store.
 * @param last its last state, as the watchers shall see it and the caller gets it
 */
export async function removeObject(
  context: RegistryContext,
  target: ObjectTarget,
  last: UnstructuredObject,
  revision: Revision,
): Promise<UnstructuredObject> {
  const removed = await context.storage.delete(storageKeyOf(target), revision);
  observeRemoval(context, target, removed.revision);
  await releaseReservations(context, target.kind, last);
  last.metadata.resourceVersion = String(removed.revision);
  return last;
}

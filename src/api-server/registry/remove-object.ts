import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import type { Attributes } from '../admission/index.js';
import type { Revision } from '../storage/index.js';
import { storageKeyOf } from './registry-context.js';
import { releaseReservations } from './reservations.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

/**
 * Takes an object out of the store, and gives back what it had.
 * @param attributes what was admitted; with the state before, by which quotas have counted it
 * @param last its last state, as the watchers shall see it and the caller gets it
 */
export async function removeObject(
  context: RegistryContext,
  target: ObjectTarget,
  last: UnstructuredObject,
  { attributes, revision }: { readonly attributes: Attributes; readonly revision: Revision },
): Promise<UnstructuredObject> {
  const removal: Attributes = { ...attributes, object: undefined };
  const removed = await context.admission.booked(removal, () =>
    context.storage.delete(storageKeyOf(target), revision),
  );
  await releaseReservations(context, target.kind, last);
  last.metadata.resourceVersion = String(removed.revision);
  return last;
}

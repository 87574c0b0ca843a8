import { qualifiedResource } from '../../base/kubernetes/index.js';
import { StatusError } from '../errors/index.js';
import { storedKindOf } from '../kinds/index.js';
import type { Definition } from '../kinds/index.js';
import { contextOf, deleteObject } from '../registry/index.js';
import type { ObjectTarget, RegistryContext } from '../registry/index.js';
import { pagesOf } from '../storage/index.js';

/** How often is looked whether the finalizers of the last objects are gone, milliseconds. */
const LOOK_AGAIN_MS = 250;

/** Deletes every object of a definition, and resolves when none is left. */
export async function deleteAllObjects(
  context: RegistryContext,
  definition: Readonly<Definition>,
  signal: AbortSignal,
): Promise<void> {
  const kind = storedKindOf(definition);
  const resource = qualifiedResource(kind.type);
  const own = contextOf(context, kind);
  for (;;) {
    let left = 0;
    for await (const { items } of pagesOf(own.storage, resource))
      for (const { object } of items) {
        signal.throwIfAborted();
        const { namespace = '', name, deletionTimestamp } = object.metadata;
        if (deletionTimestamp) left++;
        else if (!(await isRemoved(own, { kind, namespace, name }))) left++;
      }
    if (left === 0) return;
    await context.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

async function isRemoved(context: RegistryContext, target: ObjectTarget): Promise<boolean> {
  try {
    return (await deleteObject(context, target, {}, { dryRun: false })).removed;
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 404) return true;
    throw error;
  }
}

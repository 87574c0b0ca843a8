import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../../schema/errors/index.js';
import { storedKindOf } from '../../../kinds/index.js';
import type { Definition } from '../../../kinds/index.js';
import { contextOf, deleteObject } from '../../../objects/registry/index.js';
import type { ObjectTarget, RegistryContext } from '../../../objects/registry/index.js';
import { pagesOf } from '../../../storage/index.js';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/** Delay before checking whether the finalizers of the last objects have been removed, milliseconds; doubles each time. */
const LOOK_AGAIN_MS = 250;
const LONGEST_LOOK_MS = 5000;
/** The genuine server's delay before it reports this. */
const PATIENCE_MS = 60_000;

/** Objects are still there: something that they name has to let them go. */
export class ObjectsLeftError extends Error {}

/** Deletes every object of a definition, and resolves when none is left. @throws ObjectsLeftError when some stay for a minute */
export async function deleteAllObjects(
  context: RegistryContext,
  definition: Readonly<Definition>,
  signal: AbortSignal,
): Promise<void> {
  const kind = storedKindOf(definition);
  const resource = qualifiedResource(kind.type);
  const own = contextOf(context, kind);
  const endMs = context.clock.monotonicNow() + PATIENCE_MS;
  for (let looks = 0; ; looks++) {
    let left = 0;
    for await (const { items } of pagesOf(own.storage, resource))
      for (const { object } of items) {
        signal.throwIfAborted();
        const { namespace = '', name, deletionTimestamp } = object.metadata;
        if (deletionTimestamp) left++;
        else if (!(await isRemoved(own, { kind, namespace, name }))) left++;
      }
    if (left === 0) return;
    if (context.clock.monotonicNow() >= endMs)
      throw new ObjectsLeftError(`${left} are still there, and wait for their finalizers`);
    const pauseMs = doublingDelayMs(looks, { firstMs: LOOK_AGAIN_MS, longestMs: LONGEST_LOOK_MS });
    await context.clock.sleep(pauseMs, signal);
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

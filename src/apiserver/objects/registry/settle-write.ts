import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { KindDefinition } from '../../kinds/index.js';
import type { RegistryContext, ObjectTarget } from './registry-context.js';
import { Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { annotateWithActiveSpan } from '@rollkeeper/machinery/trace-context';
import type { Attributes } from '../../access/admission/index.js';
import type { Revision } from '../../storage/index.js';
import { storageKeyOf } from './registry-context.js';
import { release } from './reservations.js';

/** After a write is through: what the server itself keeps about the object follows it. */
export async function settleWrite(
  context: RegistryContext,
  kind: KindDefinition,
  object: Readonly<UnstructuredObject>,
): Promise<void> {
  await context.admission.settle(kind, object);
  if (isDefinition(kind)) await context.definitions?.settle(object);
}

function isDefinition({ type }: KindDefinition): boolean {
  return type.kind === 'CustomResourceDefinition' && type.group === 'apiextensions.k8s.io';
}

/** The kinds that controllers act on. The trace of an Event or a heartbeat leads nowhere. */
const STAMPED: ReadonlySet<string> = new Set([Deployment, ReplicaSet, Pod].map(({ kind }) => kind));

/**
 * Annotates an object about to be stored with the request's span, if this process records spans: watchers of the object
 * continue the trace of its last write. Done last, so that it never turns a no-op into a change.
 */
export function stampTrace(
  { clock }: Pick<RegistryContext, 'clock'>,
  { type }: KindDefinition,
  object: UnstructuredObject,
): void {
  if (STAMPED.has(type.kind)) annotateWithActiveSpan(object, clock.now());
}

/**
 * Removes an object from the store, and releases its reservations.
 * @param attributes what was admitted; with the state before, by which quotas have counted it
 * @param last its last state, as watchers and the caller get it
 */
export async function removeObject(
  context: RegistryContext,
  target: ObjectTarget,
  last: UnstructuredObject,
  { attributes, revision }: { readonly attributes: Attributes; readonly revision: Revision },
): Promise<UnstructuredObject> {
  const removal: Attributes = { ...attributes, object: undefined };
  // Asked first: an object that is not what its kind is fails here, before anything is removed.
  const reserved = target.kind.reservations?.wanted(last) ?? [];
  const removed = await context.admission.booked(removal, () =>
    context.storage.delete(storageKeyOf(target), revision),
  );
  await release(context, reserved);
  last.metadata.resourceVersion = String(removed.revision);
  return last;
}

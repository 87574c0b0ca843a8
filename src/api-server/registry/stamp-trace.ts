import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../base/kubernetes/index.js';
import { annotateWithActiveSpan } from '../../base/trace-context/index.js';
import type { KindDefinition } from '../kinds/index.js';
import type { RegistryContext } from './registry-context.js';

/** What controllers act on. The trace of an Event or a heartbeat leads nowhere. */
const STAMPED: ReadonlySet<string> = new Set([DEPLOYMENTS, REPLICA_SETS, PODS].map(({ kind }) => kind));

/**
 * Notes the request's span on an object that is about to be stored, where this process records spans: who watches the
 * object goes on with the trace of its last write. Last of all, so that it never makes a change out of none.
 */
export function stampTrace(
  { clock }: Pick<RegistryContext, 'clock'>,
  { type }: KindDefinition,
  object: UnstructuredObject,
): void {
  if (STAMPED.has(type.kind)) annotateWithActiveSpan(object, clock.now());
}

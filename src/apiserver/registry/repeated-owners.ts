import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Caller } from '../admission/index.js';

/** An owner that is named twice is one. Source: dedupOwnerReferences in endpoints/handlers/create.go of apiserver. */
export function dropRepeatedOwners({ metadata }: UnstructuredObject, caller: Caller): void {
  const { ownerReferences } = metadata;
  if (!ownerReferences || ownerReferences.length < 2) return;
  const isFirst = (owner: object, index: number): boolean =>
    !ownerReferences.slice(0, index).some((other) => sameJson(owner, other));
  const kept = ownerReferences.filter(isFirst);
  if (kept.length === ownerReferences.length) return;
  const repeated = ownerReferences.filter((owner, index) => !isFirst(owner, index)).map(({ uid }) => uid);
  metadata.ownerReferences = kept;
  caller.warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...new Set(repeated)].join(', ')}`,
  );
}

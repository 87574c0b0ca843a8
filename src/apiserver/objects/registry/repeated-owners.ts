import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { canonicalJson } from '@rollkeeper/machinery/kubernetes';
import type { Caller } from '../../access/admission/index.js';

/** An owner that is named twice is one. Source: dedupOwnerReferences in endpoints/handlers/create.go of apiserver. */
export function dropRepeatedOwners({ metadata }: UnstructuredObject, caller: Caller): void {
  const { ownerReferences } = metadata;
  if (!ownerReferences || ownerReferences.length < 2) return;
  const byContent = Map.groupBy(ownerReferences, canonicalJson);
  if (byContent.size === ownerReferences.length) return;
  const repeated = [...byContent.values()].flatMap(([first, ...others]) =>
    others.length > 0 ? first!.uid : [],
  );
  metadata.ownerReferences = [...byContent.values()].map(([first]) => first!);
  caller.warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...new Set(repeated)].join(', ')}`,
  );
}

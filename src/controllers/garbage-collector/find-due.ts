import type { DueWork } from '@rollkeeper/runtime';
import type { AbsentOwners } from './absent-owners.js';
import type { DependencyGraph } from './dependency-graph.js';
import { isBeingDeleted, isDeletingDependents, isOrphaningDependents, itemRef } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

interface DueView {
  readonly graph: Pick<DependencyGraph, 'dependentsOf' | 'nodes' | 'ownerOf'>;
  readonly absent: Pick<AbsentOwners, 'has'>;
}

/**
 * Objects with an owner that is known to be deleted, and owners that no object holds any more. If the cache alone is not enough
 * (an owner that was never seen), nothing is due: the sync asks the server.
 */
export function* findDue(view: DueView): Generator<DueWork> {
  for (const node of view.graph.nodes()) {
    if (!isDue(node, view)) continue;
    const { metadata } = node.object;
    yield { ref: itemRef(node.type, metadata), resourceVersion: metadata.resourceVersion };
  }
}

function isDue({ object }: GraphNode, { absent, graph }: DueView): boolean {
  const { namespace, ownerReferences = [], uid } = object.metadata;
  if (isOrphaningDependents(object)) return true;
  if (isDeletingDependents(object)) return graph.dependentsOf(uid).length === 0;
  if (isBeingDeleted(object)) return false;
  return ownerReferences.some(
    (reference) => !graph.ownerOf(reference, namespace) && absent.has(reference, namespace),
  );
}

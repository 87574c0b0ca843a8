import type { Enqueue, ResourceEvent } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  KubernetesObject,
  OwnerReference,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { newerResourceVersion } from '@rollkeeper/machinery/kubernetes';
import type { AbsentOwners } from './absent-owners.js';
import { decideAffected, waitingOwners } from './decide-affected.js';
import type { DependencyGraph } from './dependency-graph.js';
import { namesKind } from './dependency-graph.js';
import type { CompiledGarbageCollectorOptions } from './garbage-collector.options.js';
import { itemRef } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

/** Turns changes into keys to look at; on the leader only. */
export function watchGarbage(
  graph: DependencyGraph,
  absent: AbsentOwners,
  options: CompiledGarbageCollectorOptions,
  enqueue: Enqueue,
): () => void {
  const unsubscribe = graph.onEvent((type, event) => {
    const initial = event.type === 'added' && event.initial;
    const cause = causeOf(type, event, graph);
    for (const node of decideAffected(type, event, { graph, absent })) {
      enqueue({
        ref: itemRef(node.type, node.object.metadata),
        cause,
        mustHaveSeen: seenWith(node, event.object, graph),
        change: event,
        priority: initial ? 'low' : 'normal',
        reason: initial ? 'initial-list' : 'child-change',
        // Of an initial list the owners have been listed as well: what is not there now will not be in a moment.
        ...(node.urgency === 'later' && !initial ? { delayMs: options.unseenOwnerDelayMs } : {}),
      });
    }
  });
  // Who waits for a dependent that nobody can look at any more would wait for ever.
  const unsubscribeForgotten = graph.onForgotten(({ object }) => {
    for (const owner of waitingOwners(object, object.metadata.ownerReferences ?? [], { graph }))
      enqueue({ ref: itemRef(owner.type, owner.object.metadata), reason: 'child-change' });
  });
  // An owner that went before its type was followed will never be told of.
  const unsubscribeListed = graph.onListed((type) => {
    const listed = stateOf(type, graph.resourceVersionOf(type));
    for (const node of withoutOwner(type, graph)) {
      const { metadata } = node.object;
      const mustHaveSeen = [...stateOf(node.type, metadata.resourceVersion), ...listed];
      enqueue({ ref: itemRef(node.type, metadata), mustHaveSeen, priority: 'low', reason: 'child-change' });
    }
  });
  return () => {
    unsubscribe();
    unsubscribeForgotten();
    unsubscribeListed();
  };
}

/** Every object with an owner of the type that the cache does not show. */
function* withoutOwner(type: ResourceType, graph: DependencyGraph): Generator<GraphNode> {
  for (const node of graph.nodes()) {
    const { namespace, ownerReferences = [] } = node.object.metadata;
    const isMissing = (reference: DeepReadonly<OwnerReference>): boolean =>
      namesKind(reference, type) && !graph.ownerOf(reference, namespace);
    if (ownerReferences.some(isMissing)) yield node;
  }
}

/**
 * Remembers every deletion: whoever works on a dependent then knows without asking that the owner is gone. Pods own next to nothing, and there are too many of them to remember each.
 */
export function rememberDeletions(graph: DependencyGraph, absent: AbsentOwners): () => void {
  return graph.onEvent((type, event) => {
    const gone = event.type === 'deleted' ? event.object.metadata.uid : undefined;
    if (gone === undefined) return;
    if (type.resource !== 'pods' || graph.dependentsOf(gone).length > 0)
      absent.addDeleted(type, event.object);
  });
}

/**
 * What the leader sees that makes it look at `node`: itself, its owners, or that they are gone, and its dependents. The
 * change alone is not enough: a replica whose cache of the dependents is behind that of the owners would not know the
 * object, find nothing to do, and nobody would look again.
 *
 * Where it was a dependent that changed, the others are left out: they were told when the owner began to wait for them,
 * or when they came, and going through all of them for each of a thousand that go would be too much.
 */
export function seenWith(
  { object, type }: GraphNode,
  changed: DeepReadonly<KubernetesObject>,
  graph: Pick<DependencyGraph, 'dependentsOf' | 'newestDeletionOf' | 'ownerOf' | 'typeOf'>,
): SeenState[] {
  const { namespace, ownerReferences = [], resourceVersion, uid } = object.metadata;
  const owners = ownerReferences.flatMap((reference) => {
    const owner = graph.ownerOf(reference, namespace);
    if (owner) return stateOf(owner.type, owner.object.metadata.resourceVersion);
    const absent = graph.typeOf(reference);
    return absent ? stateOf(absent, graph.newestDeletionOf(absent)) : [];
  });
  const isOwnerOfChanged = changed.metadata.ownerReferences?.some((reference) => reference.uid === uid);
  const dependents = isOwnerOfChanged ? [] : graph.dependentsOf(uid);
  return [
    ...stateOf(type, resourceVersion),
    ...owners,
    ...dependents.flatMap((node) => stateOf(node.type, node.object.metadata.resourceVersion)),
  ];
}

interface SeenState {
  readonly type: ResourceType;
  readonly resourceVersion: string;
}

function stateOf(type: ResourceType, resourceVersion: string | undefined): SeenState[] {
  return resourceVersion === undefined ? [] : [{ type, resourceVersion }];
}

/**
 * The state that whoever handles the key must have seen. A deletion that was noticed by absence has no
 * resourceVersion of its own: there it is the list's.
 */
function causeOf(
  type: ResourceType,
  event: ResourceEvent<KubernetesObject>,
  graph: DependencyGraph,
): SeenState | undefined {
  let resourceVersion: string | undefined = event.object.metadata.resourceVersion;
  if (event.type === 'deleted' && event.finalStateUnknown) {
    resourceVersion = newerResourceVersion(graph.resourceVersionOf(type), resourceVersion);
  }
  return resourceVersion === undefined ? undefined : { type, resourceVersion };
}

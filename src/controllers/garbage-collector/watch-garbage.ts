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
import { isDeletingDependents, itemRef } from './item-key.js';
import type { GraphNode } from './ownership-index.js';
import type { ResourceMonitors } from './resource-monitors.js';

/** The parts of the collector that the watch reads. */
interface WatchedSources {
  readonly graph: DependencyGraph;
  readonly absent: AbsentOwners;
  readonly monitors: Pick<ResourceMonitors, 'isFilling'>;
}

/** Maps changes to keys to check; on the leader only, and with slots on each replica for those that it owns. */
export function watchGarbage(
  { absent, graph, monitors }: WatchedSources,
  options: CompiledGarbageCollectorOptions,
  enqueue: Enqueue,
): () => void {
  // If all lists are complete when the watch begins, an owner that the cache lacks does not exist. A list that is still in progress, or
  // begins later for a new type or shard, may show an object a moment before its owner.
  let isListed = !monitors.isFilling;
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
        ...(node.urgency === 'later' && !isListed ? { delayMs: options.unseenOwnerDelayMs } : {}),
      });
    }
  });
  isListed = false;
  // An owner that waits for a dependent of a removed type would wait forever.
  const unsubscribeForgotten = graph.onForgotten(({ object }) => {
    for (const owner of waitingOwners(object, object.metadata.ownerReferences ?? [], { graph }))
      enqueue({ ref: itemRef(owner.type, owner.object.metadata), reason: 'child-change' });
  });
  // The deletion of an owner, or of the last dependent that one waits for, has no event if the type or its shard was not watched then.
  const unsubscribeListed = graph.onListed((types) => {
    const listed = types.flatMap((type) => stateOf(type, graph.resourceVersionOf(type)));
    for (const node of missingRelatives(types, graph)) {
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

/** Every object with an owner of one of the types that the cache does not have, and every one that waits for its dependents. */
function* missingRelatives(types: readonly ResourceType[], graph: DependencyGraph): Generator<GraphNode> {
  for (const node of graph.nodes()) {
    const { namespace, ownerReferences = [] } = node.object.metadata;
    const isMissing = (reference: DeepReadonly<OwnerReference>): boolean =>
      !graph.ownerOf(reference, namespace) && types.some((type) => namesKind(reference, type));
    if (isDeletingDependents(node.object) || ownerReferences.some(isMissing)) yield node;
  }
}

/**
 * Remembers every deletion, so that a dependent's sync knows without a request that the owner was deleted. Pods rarely own
 * anything, and are too many to remember.
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
 * The versions that made the leader check `node`: of itself, of its owners or their deletion, and of its dependents.
 * The change alone is not enough: a replica whose cache of the dependents lags behind that of the owners would not know
 * the object, find nothing to do, and the object would not be checked again.
 *
 * If a dependent changed, the others are omitted: they were enqueued when the owner began to wait for them, or when
 * they appeared, and traversing all of them for each of a thousand deletions would be too slow.
 */
function seenWith(
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
 * The version that the sync must have seen. A deletion noticed by absence has no resourceVersion: the list's is used.
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

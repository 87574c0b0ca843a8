import type { ResourceEvent } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  KubernetesObject,
  OwnerReference,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { AbsentOwners } from './absent-owners.js';
import type { DependencyGraph } from './dependency-graph.js';
import { isBeingDeleted, isDeletingDependents, isOrphaningDependents } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

type Item = DeepReadonly<KubernetesObject>;

/** An object to check because of a change. */
interface AffectedNode extends GraphNode {
  /** `later`: its owner is not cached yet, which usually means that it will be in a moment. */
  readonly urgency: 'now' | 'later';
}

/** The parts of the collector that the decision reads. */
interface AffectedView {
  readonly graph: Pick<DependencyGraph, 'dependentsOf' | 'ownerOf'>;
  readonly absent: Pick<AbsentOwners, 'has'>;
}

/**
 * The objects affected by a change: dependents of a deleted or waiting owner, owners that wait for a deleted object,
 * and objects whose owner may not exist. A change of status alone affects none. Source: `processGraphChanges` in k/k
 * pkg/controller/garbagecollector/graph_builder.go.
 */
export function decideAffected(
  type: ResourceType,
  event: ResourceEvent<KubernetesObject>,
  view: AffectedView,
): AffectedNode[] {
  if (event.type === 'deleted') return ofDeletion(event.object, view);
  const old = event.type === 'modified' ? event.old : undefined;
  return ofState({ type, object: event.object }, old, view);
}

function ofDeletion(object: Item, view: AffectedView): AffectedNode[] {
  return [
    ...view.graph.dependentsOf(object.metadata.uid).map(now),
    ...waitingOwners(object, object.metadata.ownerReferences ?? [], view),
  ];
}

function ofState(node: GraphNode, old: Item | undefined, view: AffectedView): AffectedNode[] {
  const { object } = node;
  const affected: AffectedNode[] = [];
  const finalizersChanged = !sameJson(old?.metadata.finalizers ?? [], object.metadata.finalizers ?? []);
  const deletionBegan = isBeingDeleted(object) && (!old || !isBeingDeleted(old));
  if (deletionBegan || (isBeingDeleted(object) && finalizersChanged)) {
    if (isOrphaningDependents(object) || isDeletingDependents(object)) affected.push(now(node));
    if (isDeletingDependents(object)) {
      affected.push(...view.graph.dependentsOf(object.metadata.uid).map(now));
    }
  }
  const references = object.metadata.ownerReferences ?? [];
  if (old && sameJson(old.metadata.ownerReferences ?? [], references)) return affected;
  const urgency = isBeingDeleted(object) ? undefined : urgencyOf(object, references, view);
  if (urgency) affected.push({ ...node, urgency });
  affected.push(...waitingOwners(object, [...(old?.metadata.ownerReferences ?? []), ...references], view));
  return affected;
}

/** Whether an object with these owners needs a check: not while all of them are known to exist. */
function urgencyOf(
  object: Item,
  references: readonly DeepReadonly<OwnerReference>[],
  view: AffectedView,
): AffectedNode['urgency'] | undefined {
  let urgency: AffectedNode['urgency'] | undefined;
  for (const reference of references) {
    const owner = view.graph.ownerOf(reference, object.metadata.namespace);
    if (owner && !isDeletingDependents(owner.object)) continue;
    if (owner ?? view.absent.has(reference, object.metadata.namespace)) return 'now';
    urgency = 'later';
  }
  return urgency;
}

/** The owners among `references` that wait for their dependents to be deleted. */
export function waitingOwners(
  object: Item,
  references: readonly DeepReadonly<OwnerReference>[],
  view: Pick<AffectedView, 'graph'>,
): AffectedNode[] {
  const owners = new Map<string, AffectedNode>();
  for (const reference of references) {
    const owner = view.graph.ownerOf(reference, object.metadata.namespace);
    if (owner && isDeletingDependents(owner.object)) owners.set(reference.uid, now(owner));
  }
  return [...owners.values()];
}

function now(node: GraphNode): AffectedNode {
  return { ...node, urgency: 'now' };
}

import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ResourceEvent } from '@rollkeeper/client/informer';

/**
 * Whether a change is worth a sync. Asked for every event of an informer, so it must be quick and must not throw. Of
 * several in a list, all must say yes.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = (event: ResourceEvent<T>) => boolean;

/** One that looks at modifications alone: everything that appears or goes passes. */
function onModification(
  differs: (old: DeepReadonly<KubernetesObject>, object: DeepReadonly<KubernetesObject>) => boolean,
): Predicate {
  return (event) =>
    event.type !== 'modified' ||
    // A finalizer's turn has come, whatever else did not change.
    event.old.metadata.deletionTimestamp !== event.object.metadata.deletionTimestamp ||
    differs(event.old, event.object);
}

/**
 * The spec has changed: the API server counts `metadata.generation` up, which writes of the status and of the metadata do not
 * touch. Only for kinds that have a generation: custom resources with a status subresource, workloads, and the like.
 */
export const generationChanged: Predicate = onModification(
  (old, object) => old.metadata.generation !== object.metadata.generation,
);

export const labelsChanged: Predicate = onModification(
  (old, object) => !sameJson(old.metadata.labels, object.metadata.labels),
);

export const annotationsChanged: Predicate = onModification(
  (old, object) => !sameJson(old.metadata.annotations, object.metadata.annotations),
);

/** Not shown again by a resync: the object itself is another state. */
export const resourceVersionChanged: Predicate = onModification(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
);

/** Passes what any of them lets pass. */
export function anyOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event));
}

/** Passes what all of them let pass. */
export function allOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event));
}

export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event);
}

/**
 * Whether an object is one of ours; a modification passes where it is, or was. `matching((pod) => pod.metadata.labels?.app === 'web')`
 */
export function matching<T extends KubernetesObject>(
  isOurs: (object: DeepReadonly<T>) => boolean,
): Predicate<T> {
  return (event) => isOurs(event.object) || (event.type === 'modified' && isOurs(event.old));
}

import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ResourceEvent } from '@rollkeeper/client/informer';

/**
 * Whether a change is worth a sync. Called for every event of an informer, so it must be quick and must not throw. A
 * change must pass all predicates of a list.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = (event: ResourceEvent<T>) => boolean;

/** A predicate on modifications only: all additions and deletions pass. */
function onModification(
  differs: (old: DeepReadonly<KubernetesObject>, object: DeepReadonly<KubernetesObject>) => boolean,
): Predicate {
  return (event) =>
    event.type !== 'modified' ||
    // The deletion began: finalizers have to act, even if nothing else changed.
    event.old.metadata.deletionTimestamp !== event.object.metadata.deletionTimestamp ||
    differs(event.old, event.object);
}

/**
 * The spec has changed: the API server increments `metadata.generation`, which writes of the status and of the metadata
 * do not change. Only for kinds that have a generation: custom resources with a status subresource, workloads, and the
 * like.
 */
export const generationChanged: Predicate = onModification(
  (old, object) => old.metadata.generation !== object.metadata.generation,
);

/** Passes a modification that changes labels. */
export const labelsChanged: Predicate = onModification(
  (old, object) => !sameJson(old.metadata.labels, object.metadata.labels),
);

/** Passes a modification that changes annotations. */
export const annotationsChanged: Predicate = onModification(
  (old, object) => !sameJson(old.metadata.annotations, object.metadata.annotations),
);

/** A real change, not an event of a resync. */
export const resourceVersionChanged: Predicate = onModification(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
);

/** Passes a change that any of them passes. */
export function anyOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event));
}

/** Passes a change that all of them pass. */
export function allOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event));
}

/** Passes the changes that the predicate does not. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event);
}

/**
 * Whether an object matches; a modification passes if the object matches now, or did before.
 * `matching((pod) => pod.metadata.labels?.app === 'web')`
 */
export function matching<T extends KubernetesObject>(
  isOurs: (object: DeepReadonly<T>) => boolean,
): Predicate<T> {
  return (event) => isOurs(event.object) || (event.type === 'modified' && isOurs(event.old));
}

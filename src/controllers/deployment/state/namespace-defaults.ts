import type { InformerSource, Kind, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, Namespace, partOf, watch } from '@rollkeeper/runtime';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../kubernetes/annotations.js';
import { isKnown, isPolicyAnnotation, isSetting, nearestSetting } from '../policies/known-names.js';

/**
 * The part of a Namespace that may be a default of its Deployments: some bytes each, and for most nothing but the name.
 */
export const NAMESPACE_POLICIES = partOf(Namespace, 'rollout-policies', keepPolicies);

/** If Namespaces may not be read, no defaults are known, and each Deployment has its own annotations alone. */
export function namespaceDefaults(
  informers: Pick<InformerSource, 'partialInformerFor'>,
): (namespace: string) => Annotations | undefined {
  const { lister } = informers.partialInformerFor<KubernetesObject>(NAMESPACE_POLICIES, { optional: true });
  return (namespace) => lister.get(namespace)?.metadata.annotations;
}

/** A Namespace of which a default has changed brings its objects of a kind back, where something follows for them. */
export function watchNamespaceDefaults<T extends KubernetesObject>(kind: Kind<T>): WatchedKind {
  const watched = watch(
    NAMESPACE_POLICIES,
    ({ metadata }, listerOf) =>
      listerOf(kind)
        .byIndex(NAMESPACE_INDEX, metadata.name)
        .map((object) => object.metadata),
    hasChanged,
  );
  return { ...watched, optional: true, urgency: { onlyIfNeeded: true } };
}

function hasChanged(event: ResourceEvent<KubernetesObject>): boolean {
  const before = event.type === 'modified' ? event.old.metadata.annotations : undefined;
  const after = event.type === 'deleted' ? undefined : event.object.metadata.annotations;
  return !semanticEqual(before ?? {}, after ?? {});
}

/** Limit of mistyped names that are reported for a Namespace. One is enough to hold new versions. */
const MOST_MISTYPED = 20;

function keepPolicies({ apiVersion, kind, metadata }: Namespace): KubernetesObject {
  const { annotations = {}, name, resourceVersion, uid } = metadata;
  // A mistyped default is kept, so that it holds new versions and is reported.
  const own = Object.entries(annotations);
  const mistyped = own
    .filter(([annotation]) => isPolicyAnnotation(annotation) && !isKnown(annotation))
    .slice(0, MOST_MISTYPED)
    .filter(([annotation]) => nearestSetting(annotation) !== undefined);
  const kept = [...own.filter(([annotation]) => isSetting(annotation)), ...mistyped];
  const policies = kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {};
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, ...policies } };
}

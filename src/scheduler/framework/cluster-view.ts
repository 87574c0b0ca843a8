import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/** The kinds that plug-ins read beside nodes and pods, by their plural names in `group/resource` form (core: the resource alone). */
export const VIEWED_RESOURCES = [
  'namespaces',
  'services',
  'replicationcontrollers',
  'apps/replicasets',
  'apps/statefulsets',
  'persistentvolumes',
  'persistentvolumeclaims',
  'policy/poddisruptionbudgets',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/csistoragecapacities',
  'storage.k8s.io/volumeattachments',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceslices',
  'resource.k8s.io/resourceclaims',
] as const;

/** A resource that plug-ins may read. */
export type ViewedResource = (typeof VIEWED_RESOURCES)[number];

/**
 * The part of the cluster that plug-ins may read beside nodes and pods: caches, no I/O. A resource that the API server
 * does not serve is empty.
 */
export interface ClusterView {
  get<T extends KubernetesObject>(
    resource: ViewedResource,
    ref: { readonly namespace?: string; readonly name: string },
  ): DeepReadonly<T> | undefined;
  /** @param namespace all namespaces where it is left out */
  list<T extends KubernetesObject>(resource: ViewedResource, namespace?: string): readonly DeepReadonly<T>[];
}

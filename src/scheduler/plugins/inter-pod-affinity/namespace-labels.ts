import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { NamespaceLabels } from '../../node/pod-affinity-terms.js';

/** Looks each namespace up once. */
export function namespaceLabelsIn(view: ClusterView): NamespaceLabels {
  const known = new Map<string, Readonly<Record<string, string>> | undefined>();
  return (name) => {
    if (!known.has(name))
      known.set(name, view.get<KubernetesObject>('namespaces', { name })?.metadata.labels);
    return known.get(name);
  };
}

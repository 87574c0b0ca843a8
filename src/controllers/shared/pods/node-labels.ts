import type { InformerSource } from '@rollkeeper/runtime';
import { Node, partOf } from '@rollkeeper/runtime';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/** The labels of nodes, as the caches know them. */
export interface NodeLabels {
  /** Undefined where the node or the label is missing. */
  valueOf(node: string, label: string): string | undefined;
  /** All values of a label, each once. @default not known */
  valuesOf?(label: string): readonly string[];
  /** `starting`: the first list is under way. `refused`: the server does not give it. */
  readonly availability: 'known' | 'starting' | 'refused';
}

/** `off`: the replica does not watch nodes. */
export type WatchedNodes = NodeLabels | 'off';

/** The labels of a node alone: its status changes all the time. */
const LABELLED_NODES = partOf(Node, 'labels', ({ apiVersion, kind, metadata }: Node): KubernetesObject => {
  const { labels, name, resourceVersion, uid } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, labels } };
});

/** If nodes may not be listed, no labels are known. */
export function nodeLabels(informers: Pick<InformerSource, 'partialInformerFor'>): NodeLabels {
  const informer = informers.partialInformerFor<KubernetesObject>(LABELLED_NODES, { optional: true });
  return {
    valueOf: (node, label) => informer.lister.get(node)?.metadata.labels?.[label],
    valuesOf: (label) => [
      ...new Set(informer.lister.list().flatMap(({ metadata }) => metadata.labels?.[label] ?? [])),
    ],
    get availability() {
      if (informer.hasSynced) return 'known';
      return informer.trouble ? 'refused' : 'starting';
    },
  };
}

import type { Node, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** The labels by which a pod knows the place of its node. */
const LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/**
 * Gives a pod, or the binding that its labels come from, the zone and region of the node. It keeps labels of its own. Source: the
 * plug-in PodTopologyLabels.
 */
export function addTopologyLabels({ metadata }: UnstructuredObject, node: Readonly<Node> | undefined): void {
  const { labels: ofNode = {} } = node?.metadata ?? {};
  for (const label of LABELS) {
    const value = ofNode[label];
    if (value === undefined || metadata.labels?.[label] !== undefined) continue;
    metadata.labels = { ...metadata.labels, [label]: value };
  }
}

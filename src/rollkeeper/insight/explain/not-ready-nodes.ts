import type { DeepReadonly, Node } from '@rollkeeper/machinery/kubernetes';
import { readyConditionOf } from '@rollkeeper/machinery/kubernetes';

/** The nodes that are not Ready, and since when: see `ExplainInput.nodesNotReady`. */
export function notReadyNodes(nodes: readonly DeepReadonly<Node>[]): ReadonlyMap<string, string | undefined> {
  return new Map(
    nodes.flatMap((node) => {
      const ready = readyConditionOf(node);
      return ready?.status === 'True' ? [] : [[node.metadata.name, ready?.lastTransitionTime] as const];
    }),
  );
}

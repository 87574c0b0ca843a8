import { sameJson } from '@rollkeeper/machinery/kubernetes';
import { Node, Pod, indexBy, watch } from '@rollkeeper/runtime';
import { NODE_INDEX, WHOLE_PODS, clusterController, deleteDisrupted, nodeIndex } from '../shared/index.js';
import { decideEvictions } from './decide-evictions.js';

/**
 * Deletes pods that do not, or no longer, tolerate the `NoExecute` taints of their node. Source: k/k
 * pkg/controller/tainteviction.
 */
export const taintEvictionController = clusterController<Node>({
  name: 'taint-eviction',
  trims: WHOLE_PODS,
  for: Node,
  predicates: [
    (event) => event.type !== 'modified' || !sameJson(event.old.spec?.taints, event.object.spec?.taints),
  ],
  indexes: [indexBy(Pod, NODE_INDEX, nodeIndex)],
  watches: [
    watch(
      Pod,
      ({ spec }, listerOf) => {
        const node = listerOf(Node).get(spec.nodeName ?? '');
        return node?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') ? [node.metadata] : [];
      },
      (event) =>
        event.type === 'added' ||
        (event.type === 'modified' &&
          (event.old.spec.nodeName !== event.object.spec.nodeName ||
            !sameJson(event.old.spec.tolerations, event.object.spec.tolerations))),
    ),
  ],
  async reconcile({ name }, { client, clock, events, lister, object: node }) {
    if (!node?.spec?.taints) return {};
    const pods = lister(Pod).byIndex(NODE_INDEX, name);
    const { evict, nextInMs } = decideEvictions(pods, node.spec.taints, clock.now());
    for (const pod of evict) {
      const message = `Marking for deletion Pod ${pod.metadata.namespace}/${pod.metadata.name}`;
      events.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message });
      await deleteDisrupted(client, clock, pod, {
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
      });
    }
    return nextInMs === undefined ? {} : { requeueAfterMs: nextInMs };
  },
});

import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ControllerBehaviour } from '@rollkeeper/runtime';
import { Node, Pod, indexBy, watch } from '@rollkeeper/runtime';
import { NODE_INDEX, WHOLE_PODS, clusterController, deleteDisrupted, nodeIndex } from '../shared/index.js';
import type { ScheduledEviction } from './decide-evictions.js';
import { decideEvictions } from './decide-evictions.js';

/**
 * Deletes pods that do not, or no longer, tolerate the `NoExecute` taints of their node. As in Kubernetes, tolerated
 * times are counted by the leader from when it first sees a pod under taints, so a new leader begins again. Source:
 * k/k pkg/controller/tainteviction.
 */
export const taintEvictionController = clusterController<Node>(
  { name: 'taint-eviction', serviceAccount: 'node-controller', trims: WHOLE_PODS, for: Node },
  evictionsOf,
);

const NONE: ReadonlyMap<string, ScheduledEviction> = new Map();

function evictionsOf(): ControllerBehaviour<Node> {
  /** By node. */
  const scheduled = new Map<string, ReadonlyMap<string, ScheduledEviction>>();
  return {
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
          event.type !== 'modified' ||
          event.old.spec.nodeName !== event.object.spec.nodeName ||
          !sameJson(event.old.spec.tolerations, event.object.spec.tolerations),
      ),
    ],
    whileLeading: () => () => scheduled.clear(),
    async reconcile({ name }, { client, clock, events, lister, object: node }) {
      const before = scheduled.get(name) ?? NONE;
      if (!node) scheduled.delete(name);
      if (!node || (!node.spec?.taints && before.size === 0)) return {};
      const pods = lister(Pod).byIndex(NODE_INDEX, name);
      const plan = decideEvictions(pods, node.spec?.taints ?? [], before, clock.now());
      for (const pod of plan.cancelled) {
        const message = `Cancelling deletion of Pod ${pod.metadata.namespace}/${pod.metadata.name}`;
        events.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message });
      }
      // Pods stay scheduled until they are evicted: a deletion that fails is retried.
      scheduled.set(name, withDue(plan.scheduled, before, plan.evict));
      for (const pod of plan.evict) {
        const message = `Marking for deletion Pod ${pod.metadata.namespace}/${pod.metadata.name}`;
        events.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message });
        await deleteDisrupted(client, clock, pod, {
          reason: 'DeletionByTaintManager',
          message: 'Taint manager: deleting due to NoExecute taint',
        });
      }
      if (plan.scheduled.size > 0) scheduled.set(name, plan.scheduled);
      else scheduled.delete(name);
      return plan.nextInMs === undefined ? {} : { requeueAfterMs: plan.nextInMs };
    },
  };
}

function withDue(
  scheduled: ReadonlyMap<string, ScheduledEviction>,
  before: ReadonlyMap<string, ScheduledEviction>,
  evicted: readonly ScheduledEviction['pod'][],
): ReadonlyMap<string, ScheduledEviction> {
  const due = evicted.flatMap(({ metadata: { uid = '' } }) => {
    const known = before.get(uid);
    return known ? [[uid, known] as const] : [];
  });
  return new Map([...scheduled, ...due]);
}

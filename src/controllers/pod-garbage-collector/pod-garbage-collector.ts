import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, isTerminating } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, Lister, ResourceEvent } from '@rollkeeper/runtime';
import { Node, Pod, indexBy, watch } from '@rollkeeper/runtime';
import { NODE_INDEX, clusterController, deleteDisrupted, nodeIndex, unlessGone } from '../shared/index.js';
import {
  EXCESS,
  QUARANTINE_MS,
  decideExcess,
  decideGarbage,
  isOutOfService,
  orphaned,
} from './decide-garbage.js';

const FINISHED_INDEX = 'finished';
const ALL = 'all';

/**
 * Removes pods that no other component would: on deleted nodes, deleted before being scheduled, on nodes out of
 * service, and excess ended ones. Source: k/k pkg/controller/podgc.
 */
export const podGarbageCollectorController = clusterController<Pod>(
  { name: 'pod-garbage-collector', serviceAccount: 'pod-garbage-collector', for: Pod, aliases: ['podgc'] },
  ({ informers }) => {
    // A quick check that nearly all pods need nothing.
    const nodes = informers.informerFor<Node>(Node).lister;
    const missing = new MissingNodes();
    return {
      predicates: [(event) => event.type !== 'deleted' && isSuspect(event, nodes)],
      indexes: [
        indexBy(Pod, NODE_INDEX, nodeIndex),
        indexBy(Pod, FINISHED_INDEX, (pod) => (isPodFinished(pod) ? [ALL] : [])),
      ],
      watches: [
        watch(
          Node,
          ({ metadata }, listerOf) =>
            listerOf(Pod)
              .byIndex(NODE_INDEX, metadata.name)
              .map((pod) => pod.metadata),
          (event) =>
            event.type === 'deleted' ||
            (event.type === 'modified' && isOutOfService(event.object) && !isOutOfService(event.old)),
        ),
      ],
      async reconcile(_request, { client, clock, lister, object: pod }) {
        if (!pod) return {};
        const { nodeName = '' } = pod.spec;
        const decision = decideGarbage(pod, lister(Node).get(nodeName));
        if (decision.action === 'delete') await deleteDisrupted(client, clock, pod, decision.why);
        if (decision.action === 'wait-for-node') {
          const leftMs = missing.quarantineLeftMs(nodeName, clock);
          if (leftMs > 0) return { requeueAfterMs: leftMs };
          if (!(await isThere(client, nodeName))) await deleteDisrupted(client, clock, pod, orphaned(pod));
        } else missing.found(nodeName);
        if (!isPodFinished(pod)) return {};
        for (const old of decideExcess(lister(Pod).byIndex(FINISHED_INDEX, ALL)))
          await deleteDisrupted(client, clock, old, EXCESS);
        return {};
      },
    };
  },
);

function isSuspect(event: ResourceEvent<Pod>, nodes: Pick<Lister<Node>, 'get'>): boolean {
  const { spec } = event.object;
  if (event.type === 'modified' && isPodFinished(event.object) && !isPodFinished(event.old)) return true;
  if (!spec.nodeName) return isTerminating(event.object);
  const node = nodes.get(spec.nodeName);
  return !node || (isTerminating(event.object) && isOutOfService(node));
}

/** How long a missing node is remembered, milliseconds. */
const REMEMBERED_MS = 3_600_000;

/** Since when nodes are missing, as this replica has seen it: a new leader waits again. */
class MissingNodes {
  private readonly sinceMs = new Map<string, number>();

  quarantineLeftMs(node: string, clock: Pick<Clock, 'now'>): number {
    const nowMs = clock.now();
    const sinceMs = this.sinceMs.get(node) ?? nowMs;
    // Its pods are long gone, or wait once more.
    for (const [other, otherMs] of this.sinceMs)
      if (nowMs - otherMs > REMEMBERED_MS) this.sinceMs.delete(other);
    this.sinceMs.set(node, sinceMs);
    return sinceMs + QUARANTINE_MS - nowMs;
  }

  found(node: string): void {
    this.sinceMs.delete(node);
  }
}

/** The cache may be behind, and this cannot be undone. */
async function isThere(client: ApiClient, node: string): Promise<boolean> {
  const found: DeepReadonly<Node> | undefined = await unlessGone(client.get<Node>(Node, { name: node }));
  return found !== undefined;
}

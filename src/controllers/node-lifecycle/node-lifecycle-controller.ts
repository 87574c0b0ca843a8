import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { isPodReady, sameJson } from '@rollkeeper/machinery/kubernetes';
import type {
  ApiClient,
  ControllerDefinition,
  EventNote,
  ListerOf,
  ReconcileContext,
} from '@rollkeeper/runtime';
import { Lease, Node, Pod, indexBy, watch } from '@rollkeeper/runtime';
import { NODE_INDEX, WHOLE_PODS, clusterController, nodeIndex, unlessGone } from '../shared/index.js';
import { GRACE_PERIOD_MS, decideTaints, isEvicting, readinessOf, silencedConditions } from './decide-node.js';
import { Heartbeats } from './heartbeats.js';
import type { Grant } from './zone-evictions.js';
import { ZoneEvictions } from './zone-evictions.js';

const LEASE_NAMESPACE = 'kube-node-lease';

/**
 * Sets the conditions of silent nodes to Unknown, taints nodes by their conditions, and marks pods on nodes that are
 * not ready as not ready. {@link taintEvictionController} evicts pods. Source: k/k pkg/controller/nodelifecycle.
 */
export const nodeLifecycleController: ControllerDefinition = clusterController<Node>(
  {
    ...{ name: 'node-lifecycle', serviceAccount: 'node-controller', for: Node, aliases: ['nodelifecycle'] },
    ...{ eventSource: 'node-controller', trims: WHOLE_PODS },
  },
  ({ clock, informers }) => {
    const heartbeats = new Heartbeats(LEASE_NAMESPACE, clock);
    const evictions = new ZoneEvictions();
    const registered = new RegisteredNodes();
    const heard = [informers.informerFor<Node>(Node), informers.informerFor<Lease>(Lease)] as const;
    return {
      whileLeading() {
        evictions.reset();
        registered.reset();
        return heartbeats.follow(...heard);
      },
      predicates: [
        (event) => event.type !== 'modified' || !sameJson(judged(event.old), judged(event.object)),
      ],
      reads: [Lease, Pod],
      indexes: [indexBy(Pod, NODE_INDEX, nodeIndex)],
      watches: [
        watch(
          Node,
          othersConcerned,
          (event) => event.type !== 'modified' || readinessOf(event.old) !== readinessOf(event.object),
        ),
      ],
      async reconcile({ name }, { client, clock, events, lister, object: node }) {
        const change = registered.note(name, node);
        if (change) events.record(change.node, change.event);
        if (!node) return;
        const { againInMs, isSilent } = heartbeats.ask(name, GRACE_PERIOD_MS);
        const conditions = isSilent ? silencedConditions(node, clock.now()) : undefined;
        if (conditions) {
          await patch(client, node, { status: { conditions } }, 'status');
          const message = `Node ${name} status is now: NodeNotReady`;
          events.record(node, { type: 'Normal', reason: 'NodeNotReady', message });
          // Consequences follow when the cache shows the change.
          return { requeueAfterMs: againInMs };
        }
        const { againInMs: lookAgainInMs = Infinity, isGranted } = mayEvict(
          node,
          lister,
          evictions,
          clock.now(),
        );
        const taints = decideTaints(node, isGranted, clock.now());
        if (taints) await patch(client, node, { spec: { taints } });
        if (readinessOf(node) !== 'True') await markPodsNotReady(name, { client, clock, events, lister });
        return { requeueAfterMs: Math.min(againInMs, lookAgainInMs) };
      },
    };
  },
);

/** The parts of a node that our decisions depend on; heartbeats are tracked separately. */
function judged({ spec, status }: DeepReadonly<Node>): unknown {
  return [spec?.taints, spec?.unschedulable, status?.conditions?.map(({ status: is, type }) => [type, is])];
}

/**
 * Whether the pods of a node may be driven away. While no node at all is ready our own connection is the likelier cause;
 * otherwise one node after the other loses its pods in each zone. An eviction that has begun continues.
 */
function mayEvict(
  node: DeepReadonly<Node>,
  listerOf: ListerOf,
  evictions: ZoneEvictions,
  nowMs: number,
): Grant {
  if (readinessOf(node) === 'True' || !isAnyReady(listerOf)) return { isGranted: false };
  return isEvicting(node) ? { isGranted: true } : evictions.ask(node, listerOf(Node).list(), nowMs);
}

function isAnyReady(listerOf: ListerOf): boolean {
  return listerOf(Node)
    .list()
    .some((node) => readinessOf(node) === 'True');
}

/** Losing the last ready node disables evictions from the others, and the first ready one enables them again. */
function othersConcerned(_node: unknown, listerOf: ListerOf) {
  const nodes = listerOf(Node).list();
  const ready = nodes.filter((node) => readinessOf(node) === 'True').length;
  return ready <= 1 ? nodes.map(({ metadata }) => metadata) : [];
}

async function patch(client: ApiClient, node: DeepReadonly<Node>, part: object, subresource?: string) {
  const { name, resourceVersion, uid } = node.metadata;
  const body = { metadata: { uid, resourceVersion }, ...part };
  await unlessGone(client.patch(Node, { name }, { type: 'merge', body }, { subresource }));
}

/**
 * Only this controller can do that while the node is silent. Reason and message of the condition stay unchanged.
 * Source: `MarkPodsNotReady` in k/k pkg/controller/util/node.
 */
async function markPodsNotReady(
  node: string,
  { client, clock, events, lister }: Pick<ReconcileContext, 'client' | 'clock' | 'events' | 'lister'>,
): Promise<void> {
  const lastTransitionTime = toRfc3339(clock.now());
  for (const pod of lister(Pod).byIndex(NODE_INDEX, node)) {
    if (!isPodReady(pod)) continue;
    const { name, namespace, uid } = pod.metadata;
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime }];
    const body = { metadata: { uid }, status: { conditions } };
    const patched = await unlessGone(
      client.patch(Pod, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' }),
    );
    // After the write, which proves that the pod still exists.
    if (patched)
      events.record(pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
  }
}

interface NodeChange {
  readonly node: KubernetesObject;
  readonly event: EventNote;
}

/** The nodes that are known to a controller, and what it says of those that come and go. */
export class RegisteredNodes {
  private readonly known = new Map<string, KubernetesObject>();

  /** The next leader learns all nodes again. */
  reset(): void {
    this.known.clear();
  }

  /** @returns the Event of a node that has come, been replaced by another of its name, or been deleted */
  note(name: string, node: DeepReadonly<Node> | undefined): NodeChange | undefined {
    const before = this.known.get(name);
    if (!node) {
      this.known.delete(name);
      return before && changeOf(before, 'RemovingNode', `Removing Node ${name} from Controller`);
    }
    if (before?.metadata.uid === node.metadata.uid && before) return undefined;
    const seen: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: node.metadata.uid },
    };
    this.known.set(name, seen);
    return changeOf(seen, 'RegisteredNode', `Registered Node ${name} in Controller`);
  }
}

function changeOf(node: KubernetesObject, reason: string, what: string): NodeChange {
  return { node, event: { type: 'Normal', reason, message: `Node ${node.metadata.name} event: ${what}` } };
}

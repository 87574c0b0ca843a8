import { findCondition, readyConditionOf, transitionTime } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Node } from '@rollkeeper/runtime';
import type { ResourceEvent } from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';
import { networksOf } from '../node-ipam/node-ipam.js';

type ReadableNode = DeepReadonly<Node>;
type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

/** The annotation with the behaviour that people give machines, from which the simulated cloud knows of them. */
const BEHAVIOUR = 'node.rollkeeper.dev/behaviour';
const PROVIDER = 'rollkeeper://';
const SHUTDOWN_TAINT = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' } as const;

/** Whether the simulated cloud says this of a machine of its own. */
function isSaidOf({ metadata, spec }: ReadableNode, word: string): boolean {
  const words = (metadata.annotations?.[BEHAVIOUR] ?? '').split(',').map((each) => each.trim());
  return spec?.providerID?.startsWith(PROVIDER) === true && words.includes(word);
}

type CloudStep =
  | { readonly action: 'nothing' }
  | { readonly action: 'delete' }
  | { readonly action: 'taint'; readonly taints: readonly Taint[] };

/** Source: MonitorNodes in k8s.io/cloud-provider/controllers/nodelifecycle. */
export function decideCloudStep(node: ReadableNode): CloudStep {
  const taints = node.spec?.taints ?? [];
  const isTainted = taints.some(({ key }) => key === SHUTDOWN_TAINT.key);
  const others = taints.filter(({ key }) => key !== SHUTDOWN_TAINT.key);
  if (readyConditionOf(node)?.status === 'True')
    return isTainted ? { action: 'taint', taints: others } : { action: 'nothing' };
  if (isSaidOf(node, 'gone')) return { action: 'delete' };
  return isSaidOf(node, 'shutdown') && !isTainted
    ? { action: 'taint', taints: [...taints, SHUTDOWN_TAINT] }
    : { action: 'nothing' };
}

function hasCloudNews(event: ResourceEvent<Node>): boolean {
  if (event.type !== 'modified') return event.type === 'added';
  const { object, old } = event;
  return (
    readyConditionOf(old)?.status !== readyConditionOf(object)?.status ||
    old.metadata.annotations?.[BEHAVIOUR] !== object.metadata.annotations?.[BEHAVIOUR]
  );
}

/** Deletes nodes whose machines the simulated cloud no longer knows, and taints those that are shut down. */
export const cloudNodeLifecycleController = clusterController<Node>({
  name: 'cloud-node-lifecycle',
  serviceAccount: 'node-controller',
  for: Node,
  predicates: [hasCloudNews],
  async reconcile({ name }, { client, events, object: node }) {
    if (!node || node.metadata.deletionTimestamp !== undefined) return;
    const { resourceVersion, uid } = node.metadata;
    const step = decideCloudStep(node);
    if (step.action === 'delete') {
      const message = `Deleting node ${name} because it does not exist in the cloud provider`;
      events.record(node, { type: 'Normal', reason: 'DeletingNode', message });
      await unlessGone(client.delete(Node, { name }, { preconditions: { uid } }));
    } else if (step.action === 'taint') {
      const body = { metadata: { uid, resourceVersion }, spec: { taints: step.taints } };
      await unlessGone(client.patch(Node, { name }, { type: 'merge', body }));
    }
  },
});

const ROUTE = 'NetworkUnavailable';
const NO_ROUTE = {
  type: ROUTE,
  status: 'True',
  reason: 'NoRouteCreated',
  message: 'RouteController failed to create a route',
} as const;
const HAS_ROUTE = {
  type: ROUTE,
  status: 'False',
  reason: 'RouteCreated',
  message: 'RouteController created a route',
} as const;

/**
 * The condition of a node for its route; undefined if it need not change. No packet has to find its way to a simulated pod,
 * so nothing is said of routes before one is missing. Source: updateNetworkingCondition in
 * k8s.io/cloud-provider/controllers/route.
 */
export function decideRoute(node: ReadableNode): typeof NO_ROUTE | typeof HAS_ROUTE | undefined {
  const before = findCondition(node.status?.conditions, ROUTE);
  const wanted = isSaidOf(node, 'network-unavailable') ? NO_ROUTE : HAS_ROUTE;
  if (before?.status === wanted.status) return undefined;
  return wanted === HAS_ROUTE && before === undefined ? undefined : wanted;
}

/** Routes of the simulated cloud to the pods of its nodes. */
export const nodeRouteController = clusterController<Node>({
  name: 'node-route',
  serviceAccount: 'route-controller',
  aliases: ['route'],
  eventSource: 'route_controller',
  for: Node,
  predicates: [hasCloudNews],
  async reconcile({ name }, { client, clock, events, object: node }) {
    const wanted = node && decideRoute(node);
    if (!wanted) return;
    const conditions = node.status?.conditions ?? [];
    const before = findCondition(conditions, ROUTE);
    const now = toRfc3339(clock.now());
    const lastTransitionTime = transitionTime(before, wanted.status, now);
    const condition = { ...wanted, lastHeartbeatTime: now, lastTransitionTime };
    const { uid } = node.metadata;
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    await unlessGone(client.patch(Node, { name }, { type: 'strategic', body }, { subresource: 'status' }));
    if (wanted !== NO_ROUTE) return;
    const [network = ''] = networksOf(node);
    const message = `Could not create route ${uid} ${network} for node ${name} after 0s: the simulated cloud refuses it`;
    events.record(node, { type: 'Warning', reason: 'FailedToCreateRoute', message });
  },
});

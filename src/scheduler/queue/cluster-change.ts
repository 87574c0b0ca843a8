import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { nanosOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ClusterEvent, EventAction, EventResource } from '../framework/cluster-event.js';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';

/** Something that happened in the cluster: the event, and the object before and after. */
export interface ClusterChange extends ClusterEvent {
  readonly before?: DeepReadonly<KubernetesObject>;
  readonly after?: DeepReadonly<KubernetesObject>;
}

/** Everything may have changed: for the flush of pods that have waited long. */
export const ANY_CHANGE: ClusterChange = { resource: '*', actions: [] };

export function isAnyChange({ resource }: ClusterChange): boolean {
  return resource === '*';
}

/** Whether a plug-in that registered for `registered` wants to hear of the change. */
export function concerns(registered: ClusterEvent, change: ClusterChange): boolean {
  if (isAnyChange(change)) return true;
  if (registered.resource !== '*' && registered.resource !== change.resource) return false;
  // `update` in a registration covers every kind of update.
  const takesUpdates = registered.actions.includes('update');
  return change.actions.some(
    (action) => registered.actions.includes(action) || (takesUpdates && action.startsWith('update')),
  );
}

/** An object of `resource` came, went or changed. */
export function changeOf(
  resource: EventResource,
  before: DeepReadonly<KubernetesObject> | undefined,
  after: DeepReadonly<KubernetesObject> | undefined,
): ClusterChange {
  const action: EventAction = before === undefined ? 'add' : after === undefined ? 'delete' : 'update';
  return { resource, actions: [action], ...(before && { before }), ...(after && { after }) };
}

/** @returns undefined if nothing changed that scheduling looks at, for example at a heartbeat */
export function nodeChangeOf(
  before: ReadableNode | undefined,
  after: ReadableNode | undefined,
): ClusterChange | undefined {
  if (!before || !after) return changeOf('nodes', before, after);
  const actions = nodeUpdates(before, after);
  return actions.length === 0 ? undefined : { resource: 'nodes', actions, before, after };
}

/** Source: `NodeSchedulingPropertiesChange` in k/k pkg/scheduler/framework/events.go. */
function nodeUpdates(before: ReadableNode, after: ReadableNode): EventAction[] {
  const actions: EventAction[] = [];
  const note = (action: EventAction, one: unknown, other: unknown): void => {
    if (!sameJson(one, other)) actions.push(action);
  };
  const isCordoned = ({ spec }: ReadableNode): boolean => spec?.unschedulable === true;
  const taints = (node: ReadableNode) => [isCordoned(node), node.spec?.taints ?? []];
  note('update-node-taints', taints(before), taints(after));
  note('update-node-allocatable', before.status?.allocatable, after.status?.allocatable);
  note('update-node-labels', before.metadata.labels, after.metadata.labels);
  note('update-node-conditions', conditionsOf(before), conditionsOf(after));
  note('update-node-annotations', before.metadata.annotations, after.metadata.annotations);
  note('update-node-declared-features', featuresOf(before), featuresOf(after));
  return actions;
}

/** Without the times of heartbeats. */
function conditionsOf({ status }: ReadableNode): Readonly<Record<string, string>> {
  return Object.fromEntries((status?.conditions ?? []).map(({ status: state, type }) => [type, state]));
}

function featuresOf({ status }: ReadableNode): unknown {
  return status?.declaredFeatures ?? [];
}

/**
 * The change that an update of a pod makes for scheduling; a plain `update` if it is none of the named parts. Source:
 * `PodSchedulingPropertiesChange` in k/k pkg/scheduler/framework/events.go.
 */
export function podUpdateOf(before: ReadablePod, after: ReadablePod): ClusterChange {
  const actions: EventAction[] = [];
  if (!sameJson(before.metadata.labels, after.metadata.labels)) actions.push('update-pod-labels');
  if (isScaledDown(before, after)) actions.push('update-pod-scale-down');
  if ((before.spec.schedulingGates ?? []).length > 0 && (after.spec.schedulingGates ?? []).length === 0)
    actions.push('update-pod-scheduling-gates-eliminated');
  if (!sameJson(before.spec.tolerations, after.spec.tolerations)) actions.push('update-pod-tolerations');
  if (!sameJson(claimsOf(before), claimsOf(after))) actions.push('update-pod-generated-resource-claim');
  if (actions.length === 0) actions.push('update');
  return { resource: 'pods', actions, before, after };
}

function claimsOf({ status }: ReadablePod): unknown {
  return status?.resourceClaimStatuses ?? [];
}

/** Any request of any container has become smaller. */
function isScaledDown(before: ReadablePod, after: ReadablePod): boolean {
  const now = requestsOf(after);
  return [...requestsOf(before)].some(([name, amount]) => (now.get(name) ?? 0n) < amount);
}

function requestsOf({ spec }: ReadablePod): ReadonlyMap<string, bigint> {
  const pod = spec.resources;
  const holders = [
    ...[...(spec.initContainers ?? []), ...spec.containers].map(({ name, resources }) => ({
      name,
      resources,
    })),
    { name: '', resources: pod },
  ];
  return new Map(
    holders.flatMap(({ name, resources }) =>
      Object.entries(resources?.requests ?? {}).map(([resource, amount]) => [
        `${name}/${resource}`,
        nanosOf(amount),
      ]),
    ),
  );
}

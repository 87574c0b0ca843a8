import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { subtract } from '../../framework/amounts.js';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { NodeInfo, PodInfo, ReadableNode, ReadablePod } from '../../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin, Verdict } from '../../framework/plugin.js';
import { unresolvable, unschedulable } from '../../framework/status.js';
import { nodeInfoOf } from '../../node/node-info.js';
import { podInfoOf } from '../../node/pod-info.js';
import { isOnNode, isSamePod, onNodes, onObjects, onPods } from '../hints.js';
import { deviceClassOf, isDeviceResource, providesAnew } from '../dynamic-resources/device-classes.js';
import { deviceTotals } from '../dynamic-resources/device-totals.js';
import type { DeviceClass } from '../dynamic-resources/resource-api.js';
import type { ScoredRequest } from './allocation.js';
import { compileStrategy, scoredRequests } from './allocation.js';
import { compileArgs, nodeResourcesFitArgs } from '../plugin-args.js';

type Requests = readonly RequestedAmount[];

interface RequestedAmount {
  readonly resource: string;
  readonly amount: Int64;
  /** Devices serve it on nodes that do not have it themselves: `DynamicResources` judges these. */
  readonly hasDevices: boolean;
}

const TOO_MANY_PODS = 'Too many pods';
const TOO_MANY = unschedulable(TOO_MANY_PODS);

/** Refuses nodes without room for what the pod requests, and prefers those where much is left. */
export const nodeResourcesFit: PluginFactory = (given, { compileDeviceSelector, view: cluster }) => {
  const args = compileArgs(nodeResourcesFitArgs, given);
  const { scoringStrategy } = args;
  const score = compileStrategy(scoringStrategy);
  const isChecked = ({ resource }: RequestedAmount): boolean => !isIgnored(resource, args);
  const plugin: SchedulerPlugin<Requests, readonly ScoredRequest[]> = {
    name: 'NodeResourcesFit',
    eventsToRegister: [
      onPods(['delete', 'update-pod-scale-down'], makesRoom),
      onNodes(['add', 'update-node-allocatable'], (pod, before, after) =>
        fitsNow(wantedBy(podInfoOf(pod), cluster), before, after),
      ),
      onObjects<DeviceClass>('resource.k8s.io/deviceclasses', ['add', 'update'], (pod, before, after) =>
        providesAnew(podInfoOf(pod).requests.keys(), before, after),
      ),
    ],
    preFilter: ({ pod, view }) => ({ state: wantedBy(pod, view).filter(isChecked) }),
    filter: fit,
    preScore: ({ pod, view }) => ({
      state: scoredRequests(pod, scoringStrategy, (resource) =>
        deviceTotals(resource, view, compileDeviceSelector),
      ),
    }),
    score: (node, _context, requests) => score(node, requests),
  };
  return plugin;
};

interface Ignored {
  readonly ignoredResources: readonly string[];
  readonly ignoredResourceGroups: readonly string[];
}

/** Extended resources that others look after, for example an extender. */
function isIgnored(resource: string, { ignoredResourceGroups, ignoredResources }: Ignored): boolean {
  const slash = resource.indexOf('/');
  if (slash < 0) return false;
  return ignoredResources.includes(resource) || ignoredResourceGroups.includes(resource.slice(0, slash));
}

function wantedBy({ requests }: PodInfo, view: ClusterView): Requests {
  return [...requests]
    .filter(([, amount]) => amount > 0)
    .map(([resource, amount]) => ({
      resource,
      amount,
      hasDevices: isDeviceResource(resource) && deviceClassOf(resource, view) !== undefined,
    }));
}

/** A pod that goes makes room, and one that shrinks in what the waiting pod wants. */
function makesRoom(
  pod: ReadablePod,
  before: ReadablePod | undefined,
  after: ReadablePod | undefined,
): boolean {
  if (!after || !before) return isOnNode(before) || Boolean(before?.status?.nominatedNodeName);
  if (isSamePod(pod, after)) return true;
  if (!isOnNode(after)) return false;
  const [had, has] = [podInfoOf(before).requests, podInfoOf(after).requests];
  return [...podInfoOf(pod).requests].some(
    ([resource, amount]) => amount > 0 && (had.get(resource) ?? 0) > (has.get(resource) ?? 0),
  );
}

/** Whether the node could take the pod if it were empty, and could not before, or has more of what the pod wants. */
function fitsNow(
  requests: Requests,
  before: ReadableNode | undefined,
  after: ReadableNode | undefined,
): boolean {
  if (!after || fit(nodeInfoOf(after), undefined, requests)) return false;
  if (!before) return true;
  const [had, has] = [nodeInfoOf(before).allocatable, nodeInfoOf(after).allocatable];
  const isMore = (resource: string): boolean => (has.get(resource) ?? 0) > (had.get(resource) ?? 0);
  return (
    isMore('pods') ||
    requests.some(({ hasDevices, resource }) => isMore(resource) || (hasDevices && !has.get(resource)))
  );
}

/** Names all resources that are short; one of which the node never has enough makes eviction useless. */
function fit(node: NodeInfo, _context: unknown, requests: Requests): Verdict {
  const isFull = node.pods.length + 1 > (node.allocatable.get('pods') ?? 0);
  let short: string[] | undefined;
  let isHopeless = false;
  for (const { amount, hasDevices, resource } of requests) {
    const allocatable = node.allocatable.get(resource) ?? 0;
    if (hasDevices && allocatable === 0) continue;
    if (amount <= subtract(allocatable, node.requested.get(resource) ?? 0)) continue;
    (short ??= []).push(`Insufficient ${resource}`);
    isHopeless ||= amount > allocatable;
  }
  if (!short) return isFull ? TOO_MANY : undefined;
  const reasons = isFull ? [TOO_MANY_PODS, ...short] : short;
  return isHopeless ? unresolvable(...reasons) : unschedulable(...reasons);
}

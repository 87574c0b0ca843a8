import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { subtract } from '../framework/amounts.js';
import type { NodeInfo, PodInfo, ReadableNode, ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin, Verdict } from '../framework/plugin.js';
import { unresolvable, unschedulable } from '../framework/status.js';
import { nodeInfoOf } from '../node/node-info.js';
import { podInfoOf } from '../node/pod-info.js';
import { isOnNode, isSamePod, onNodes, onPods } from './hints.js';
import type { ScoredRequest } from './allocation.js';
import { compileStrategy, scoredRequests } from './allocation.js';
import { compileArgs, nodeResourcesFitArgs } from './plugin-args.js';

type Requests = readonly (readonly [resource: string, amount: Int64])[];

const TOO_MANY_PODS = 'Too many pods';
const TOO_MANY = unschedulable(TOO_MANY_PODS);

/** Refuses nodes without room for what the pod requests, and prefers those where much is left. */
export const nodeResourcesFit: PluginFactory = (given) => {
  const args = compileArgs(nodeResourcesFitArgs, given);
  const { scoringStrategy } = args;
  const score = compileStrategy(scoringStrategy);
  const isChecked = ([resource]: Requests[number]): boolean => !isIgnored(resource, args);
  const plugin: SchedulerPlugin<Requests, readonly ScoredRequest[]> = {
    name: 'NodeResourcesFit',
    eventsToRegister: [
      onPods(['delete', 'update-pod-scale-down'], makesRoom),
      onNodes(['add', 'update-node-allocatable'], fitsNow),
    ],
    preFilter: ({ pod }) => ({ state: wantedBy(pod).filter(isChecked) }),
    filter: fit,
    preScore: ({ pod }) => ({ state: scoredRequests(pod, scoringStrategy) }),
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

function wantedBy({ requests }: PodInfo): Requests {
  return [...requests].filter(([, amount]) => amount > 0);
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
  return wantedBy(podInfoOf(pod)).some(([resource]) => (had.get(resource) ?? 0) > (has.get(resource) ?? 0));
}

/** Whether the node could take the pod if it were empty, and could not before, or has more of what the pod wants. */
function fitsNow(
  pod: ReadablePod,
  before: ReadableNode | undefined,
  after: ReadableNode | undefined,
): boolean {
  const requests = wantedBy(podInfoOf(pod));
  if (!after || fit(nodeInfoOf(after), undefined, requests)) return false;
  if (!before) return true;
  const [had, has] = [nodeInfoOf(before).allocatable, nodeInfoOf(after).allocatable];
  const wanted = ['pods', ...requests.map(([resource]) => resource)];
  return wanted.some((resource) => (has.get(resource) ?? 0) > (had.get(resource) ?? 0));
}

/** Names all resources that are short; one of which the node never has enough makes eviction useless. */
function fit(node: NodeInfo, _context: unknown, requests: Requests): Verdict {
  const isFull = node.pods.length + 1 > (node.allocatable.get('pods') ?? 0);
  let short: string[] | undefined;
  let isHopeless = false;
  for (const [resource, amount] of requests) {
    const allocatable = node.allocatable.get(resource) ?? 0;
    if (amount <= subtract(allocatable, node.requested.get(resource) ?? 0)) continue;
    (short ??= []).push(`Insufficient ${resource}`);
    isHopeless ||= amount > allocatable;
  }
  if (!short) return isFull ? TOO_MANY : undefined;
  const reasons = isFull ? [TOO_MANY_PODS, ...short] : short;
  return isHopeless ? unresolvable(...reasons) : unschedulable(...reasons);
}

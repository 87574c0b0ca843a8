import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { subtract } from '../framework/amounts.js';
import type { NodeInfo } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin, Verdict } from '../framework/plugin.js';
import { unresolvable, unschedulable } from '../framework/status.js';
import type { ScoredRequests } from './allocation.js';
import { leastAllocated, scoredRequests } from './allocation.js';

type Requests = readonly (readonly [resource: string, amount: Int64])[];

const TOO_MANY_PODS = 'Too many pods';
const TOO_MANY = unschedulable(TOO_MANY_PODS);

/** Refuses nodes without room for what the pod requests, and prefers those where much is left. */
export const nodeResourcesFit: PluginFactory = () => {
  const plugin: SchedulerPlugin<Requests, ScoredRequests> = {
    name: 'NodeResourcesFit',
    preFilter: ({ pod }) => ({ state: [...pod.requests].filter(([, amount]) => amount > 0) }),
    filter: fit,
    preScore: ({ pod }) => ({ state: scoredRequests(pod) }),
    score: (node, _context, requests) => leastAllocated(node, requests),
  };
  return plugin;
};

/** All resources that are short are told; one of which the node never has enough makes eviction useless. */
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

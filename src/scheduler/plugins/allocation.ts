import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { add, scale, subtract } from '../framework/amounts.js';
import type { CpuAndMemory, NodeInfo, PodInfo } from '../framework/node-info.js';
import { MAX_NODE_SCORE } from '../framework/plugin.js';
import { CPU, MEMORY, scoredRequestsOf } from '../node/pod-requests.js';

/** cpu and memory of the pod as scores count them. */
export type ScoredRequests = CpuAndMemory;

export function scoredRequests({ pod }: PodInfo): ScoredRequests {
  return scoredRequestsOf(pod);
}

/** The share of cpu and memory that would be left, in hundredths, on average over those that the node has. */
export function leastAllocated(
  { allocatable, nonZeroRequested }: NodeInfo,
  requests: ScoredRequests,
): number {
  let sum = 0;
  let resources = 0;
  const count = (all: Int64, taken: Int64): void => {
    if (all === 0) return;
    resources++;
    if (taken <= all) sum += scale(subtract(all, taken), MAX_NODE_SCORE, all);
  };
  count(allocatable.get(CPU) ?? 0, add(nonZeroRequested.cpu, requests.cpu));
  count(allocatable.get(MEMORY) ?? 0, add(nonZeroRequested.memory, requests.memory));
  return resources === 0 ? 0 : Math.trunc(sum / resources);
}

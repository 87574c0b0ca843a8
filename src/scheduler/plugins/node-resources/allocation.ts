import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { add, scale, subtract } from '../../framework/amounts.js';
import type { NodeInfo, PodInfo } from '../../framework/node-info.js';
import { MAX_NODE_SCORE } from '../../framework/plugin.js';
import { CPU, MEMORY, scoredRequestsOf } from '../../node/pod-requests.js';
import type { DeviceTotals, DeviceTotalsOn } from '../dynamic-resources/device-totals.js';
import type { ScoringStrategy, UtilizationShape } from '../plugin-args.js';

/** A resource that is scored, with what the pod asks of it. */
export interface ScoredRequest {
  readonly resource: string;
  readonly weight: number;
  readonly amount: Int64;
  /** Counts the devices that serve it, on nodes that do not have it themselves. @default none do */
  readonly devicesOn?: DeviceTotalsOn;
}

/**
 * cpu and memory count with defaults where containers state none; other resources only where the pod asks for them.
 * @param devicesFor counts the devices that serve a resource
 */
export function scoredRequests(
  pod: PodInfo,
  { resources }: ScoringStrategy,
  devicesFor: (resource: string) => DeviceTotalsOn | undefined,
): readonly ScoredRequest[] {
  const counted = scoredRequestsOf(pod.pod);
  return resources.flatMap(({ name, weight }) => {
    const amount =
      name === CPU ? counted.cpu : name === MEMORY ? counted.memory : (pod.requests.get(name) ?? 0);
    if (!isScalar(name)) return { resource: name, weight, amount };
    return amount === 0 ? [] : { resource: name, weight, amount, devicesOn: devicesFor(name) };
  });
}

/** Returns the node's total of a scalar resource, its own or by devices, and what is taken of it. */
export function scalarTotals(
  node: NodeInfo,
  { devicesOn, resource }: Pick<ScoredRequest, 'devicesOn' | 'resource'>,
): DeviceTotals {
  const all = node.allocatable.get(resource) ?? 0;
  if (all === 0 && devicesOn) return devicesOn(node);
  return { all, taken: node.requested.get(resource) ?? 0 };
}

export function isScalar(resource: string): boolean {
  return resource !== CPU && resource !== MEMORY && resource !== 'ephemeral-storage';
}

type ScoreNode = (node: NodeInfo, requests: readonly ScoredRequest[]) => number;

/** How well a node suits by what would be taken of its resources, 0 to 100. */
export function compileStrategy({ requestedToCapacityRatio, type }: ScoringStrategy): ScoreNode {
  switch (type) {
    case 'LeastAllocated':
      return (node, requests) => Math.trunc(weightedMean(node, requests, leftShare));
    case 'MostAllocated':
      return (node, requests) => Math.trunc(weightedMean(node, requests, takenShare));
    case 'RequestedToCapacityRatio': {
      const scoreOf = alongShape(requestedToCapacityRatio?.shape ?? []);
      return (node, requests) => Math.round(weightedMean(node, requests, scoreOf, true));
    }
  }
}

type ScoreShare = (taken: Int64, all: Int64) => number;

/**
 * The weighted mean over the resources that the node has. @param leavesOutZero a resource that scores nothing does not
 * count
 */
function weightedMean(
  node: NodeInfo,
  requests: readonly ScoredRequest[],
  scoreOf: ScoreShare,
  leavesOutZero = false,
): number {
  let sum = 0;
  let weights = 0;
  for (const request of requests) {
    const { amount, weight } = request;
    const { all, taken } = totalsOf(node, request);
    if (all === 0) continue;
    const score = scoreOf(add(taken, amount), all);
    if (leavesOutZero && score <= 0) continue;
    sum += score * weight;
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

function totalsOf(node: NodeInfo, request: ScoredRequest): DeviceTotals {
  const { allocatable, nonZeroRequested } = node;
  switch (request.resource) {
    case CPU:
      return { all: allocatable.get(CPU) ?? 0, taken: nonZeroRequested.cpu };
    case MEMORY:
      return { all: allocatable.get(MEMORY) ?? 0, taken: nonZeroRequested.memory };
    default:
      return scalarTotals(node, request);
  }
}

function leftShare(taken: Int64, all: Int64): number {
  return taken > all ? 0 : scale(subtract(all, taken), MAX_NODE_SCORE, all);
}

function takenShare(taken: Int64, all: Int64): number {
  return taken > all ? MAX_NODE_SCORE : scale(taken, MAX_NODE_SCORE, all);
}

/** Scores of a shape go to 10. */
const SHAPE_FACTOR = MAX_NODE_SCORE / 10;

/** Straight lines between the points, level before the first and after the last. */
function alongShape(shape: UtilizationShape): ScoreShare {
  const points = shape.map(({ score, utilization }) => ({ utilization, score: score * SHAPE_FACTOR }));
  return (taken, all) => {
    const utilization = takenShare(taken, all);
    const next = points.findIndex((point) => utilization <= point.utilization);
    if (next < 0) return points.at(-1)?.score ?? 0;
    const to = points[next]!;
    const from = points[next - 1];
    if (!from) return to.score;
    const rise = (to.score - from.score) * (utilization - from.utilization);
    return from.score + Math.trunc(rise / (to.utilization - from.utilization));
  };
}

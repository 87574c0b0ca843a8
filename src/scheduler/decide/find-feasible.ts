import type { NodeInfo } from '../framework/node-info.js';
import type { Status } from '../framework/status.js';
import type { Attempt } from './attempt.js';

/** Below this many nodes all are looked at. */
const FEWEST_TO_FIND = 100;
const FEWEST_PERCENT = 5;

export interface Feasible {
  readonly nodes: readonly NodeInfo[];
  readonly refusals: Map<string, Status>;
}

/** Filters nodes in turn from `startIndex` on until enough are found. */
export function findFeasible(attempt: Attempt, nodes: readonly NodeInfo[], startIndex: number): Feasible {
  const enough = nodesToFind(nodes.length, attempt.profile.percentageOfNodesToScore);
  const found: NodeInfo[] = [];
  const refusals = new Map<string, Status>();
  for (let step = 0; step < nodes.length && found.length < enough; step++) {
    const node = nodes[(startIndex + step) % nodes.length]!;
    const verdict = attempt.filter(node);
    if (verdict) refusals.set(node.name, verdict);
    else found.push(node);
  }
  return { nodes: found, refusals };
}

/** How many feasible nodes are enough: the larger the cluster, the smaller the share. */
export function nodesToFind(all: number, percentage = 0): number {
  if (all < FEWEST_TO_FIND) return all;
  const share = percentage > 0 ? percentage : Math.max(FEWEST_PERCENT, 50 - Math.trunc(all / 125));
  return Math.max(FEWEST_TO_FIND, Math.trunc((all * share) / 100));
}

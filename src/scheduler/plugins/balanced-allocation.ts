import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { add } from '../framework/amounts.js';
import type { NodeInfo } from '../framework/node-info.js';
import { MAX_NODE_SCORE } from '../framework/plugin.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { SKIP } from '../framework/status.js';
import { isScalar } from './allocation.js';
import { balancedAllocationArgs, compileArgs } from './plugin-args.js';

type Requests = readonly { readonly resource: string; readonly amount: Int64 }[];

/** What a node scores whose balance the pod does not change, twice. */
const NEUTRAL = MAX_NODE_SCORE / 2;

/** Prefers nodes whose cpu and memory the pod brings to like shares. */
export const balancedAllocation: PluginFactory = (args) => {
  const { resources } = compileArgs(balancedAllocationArgs, args);
  const plugin: SchedulerPlugin<undefined, Requests> = {
    name: 'NodeResourcesBalancedAllocation',
    preScore({ pod }) {
      const state = resources
        .map(({ name: resource }) => ({ resource, amount: pod.requests.get(resource) ?? 0 }))
        .filter(({ amount, resource }) => amount !== 0 || !isScalar(resource));
      return state.every(({ amount }) => amount === 0) ? { status: SKIP } : { state };
    },
    score(node, _context, requests) {
      const gain = balance(node, requests, true) - balance(node, requests, false);
      return NEUTRAL + Math.trunc((NEUTRAL + gain) / 2);
    },
  };
  return plugin;
};

/** 100 where all resources are taken to the same share; the less, the more the shares differ. */
function balance({ allocatable, requested }: NodeInfo, requests: Requests, withPod: boolean): number {
  const shares: number[] = [];
  for (const { amount, resource } of requests) {
    const all = Number(allocatable.get(resource) ?? 0);
    if (all === 0) continue;
    const before = requested.get(resource) ?? 0;
    shares.push(Math.min(1, Number(withPod ? add(before, amount) : before) / all));
  }
  return Math.trunc((1 - deviation(shares)) * MAX_NODE_SCORE);
}

/** Standard deviation; of two values half their difference, which is exact. */
function deviation(shares: readonly number[]): number {
  const [first = 0, second = 0] = shares;
  if (shares.length < 2) return 0;
  if (shares.length === 2) return Math.abs((first - second) / 2);
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const squares = shares.reduce((sum, share) => sum + (share - mean) * (share - mean), 0);
  return Math.sqrt(squares / shares.length);
}

import { add } from '../../framework/amounts.js';
import type { NodeInfo } from '../../framework/node-info.js';
import { MAX_NODE_SCORE } from '../../framework/plugin.js';
import type { PluginFactory, SchedulerPlugin } from '../../framework/plugin.js';
import { SKIP } from '../../framework/status.js';
import type { ScoredRequest } from './allocation.js';
import { isScalar, scalarTotals } from './allocation.js';
import { deviceTotals } from '../dynamic-resources/device-totals.js';
import { balancedAllocationArgs, compileArgs } from '../plugin-args.js';

type Requests = readonly Omit<ScoredRequest, 'weight'>[];

/** The score of a node whose balance the pod does not change, twice. */
const NEUTRAL = MAX_NODE_SCORE / 2;

/** Prefers nodes whose cpu and memory the pod brings to like shares. */
export const balancedAllocation: PluginFactory = (args, { compileDeviceSelector }) => {
  const { resources } = compileArgs(balancedAllocationArgs, args);
  const plugin: SchedulerPlugin<undefined, Requests> = {
    name: 'NodeResourcesBalancedAllocation',
    preScore({ pod, view }) {
      const state = resources.flatMap(({ name: resource }) => {
        const amount = pod.requests.get(resource) ?? 0;
        if (!isScalar(resource)) return { resource, amount };
        const devicesOn = deviceTotals(resource, view, compileDeviceSelector);
        return amount === 0 ? [] : { resource, amount, devicesOn };
      });
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
function balance(node: NodeInfo, requests: Requests, withPod: boolean): number {
  const shares: number[] = [];
  for (const request of requests) {
    const { all, taken } = scalarTotals(node, request);
    if (all === 0) continue;
    shares.push(Math.min(1, Number(withPod ? add(taken, request.amount) : taken) / Number(all)));
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

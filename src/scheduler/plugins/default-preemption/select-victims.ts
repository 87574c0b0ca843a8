import type { NodeInfo, PodInfo } from '../../framework/node-info.js';
import type { PostFilterContext } from '../../framework/plugin.js';
import type { Status } from '../../framework/status.js';
import { unresolvable } from '../../framework/status.js';
import type { PodDisruptionBudget } from './budgets.js';
import { splitByBudgets } from './budgets.js';
import { byImportance } from './importance.js';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';

/** A node on which evicting the victims makes room. */
export interface Candidate {
  readonly node: NodeInfo;
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  readonly violations: number;
}

const NO_VICTIMS = unresolvable('No preemption victims found for incoming pod');

/**
 * Takes all pods of lower priority off the node. If the pod then fits they are put back, the most important first and those whose
 * eviction would violate a budget before the others, as long as the pod still fits. What cannot be put back has to go.
 */
export function selectVictims(
  node: NodeInfo,
  context: PostFilterContext,
  budgets: readonly DeepReadonly<PodDisruptionBudget>[],
): Candidate | Status {
  const lower = node.pods.filter(({ priority }) => priority < context.pod.priority);
  if (lower.length === 0) return NO_VICTIMS;
  const trial = context.trial(node);
  for (const pod of lower) trial.remove(pod);
  const verdict = trial.filter();
  if (verdict) return verdict;
  const victims: PodInfo[] = [];
  const reprieve = (pod: PodInfo): boolean => {
    trial.add(pod);
    if (!trial.filter()) return true;
    trial.remove(pod);
    victims.push(pod);
    return false;
  };
  const { others, violating } = splitByBudgets(lower.toSorted(byImportance), budgets);
  const violations = violating.filter((pod) => !reprieve(pod)).length;
  for (const pod of others) reprieve(pod);
  return { node, victims: victims.sort(byImportance), violations };
}

export function isCandidate(found: Candidate | Status): found is Candidate {
  return 'victims' in found;
}

import type { NodeInfo, PodInfo } from '../../framework/node-info.js';
import type { PostFilterContext } from '../../framework/plugin.js';
import type { Status } from '../../framework/status.js';
import { unresolvable } from '../../framework/status.js';
import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { isEmptySelector, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';

export interface PodDisruptionBudget extends KubernetesObject {
  spec?: { selector?: LabelSelector };
  status?: { disruptionsAllowed?: number; disruptedPods?: Record<string, string> };
}

type Budget = DeepReadonly<PodDisruptionBudget>;

export function budgetsIn(view: ClusterView): readonly Budget[] {
  return view.list<PodDisruptionBudget>('policy/poddisruptionbudgets');
}

interface SplitVictims {
  /** Their eviction would take a budget below what it allows. */
  readonly violating: readonly PodInfo[];
  readonly others: readonly PodInfo[];
}

/** Goes through the pods in their order, and takes each off the budgets that it counts for. */
export function splitByBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]): SplitVictims {
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  const limits = budgets.map((budget) => ({
    budget,
    matches: matcherOf(budget),
    left: budget.status?.disruptionsAllowed ?? 0,
  }));
  for (const pod of pods) {
    let isViolating = false;
    for (const limit of limits) {
      if (!limit.matches(pod)) continue;
      limit.left--;
      if (limit.left < 0) isViolating = true;
    }
    (isViolating ? violating : others).push(pod);
  }
  return { violating, others };
}

/** An empty selector selects nothing here. Pods whose disruption is under way have been counted already. */
function matcherOf({ metadata, spec, status }: Budget): (pod: PodInfo) => boolean {
  const selects = isEmptySelector(spec?.selector) ? undefined : tryCompileLabelSelector(spec?.selector);
  if (!selects) return () => false;
  const disrupted = status?.disruptedPods ?? {};
  return ({ pod: { metadata: pod } }) =>
    pod.namespace === metadata.namespace &&
    Object.keys(pod.labels ?? {}).length > 0 &&
    selects(pod.labels) &&
    !Object.hasOwn(disrupted, pod.name);
}

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

/** When the pod was started, in milliseconds; one that was not yet counts as the latest. */
export function startTimeOf({ pod }: PodInfo): number {
  const { startTime } = pod.status ?? {};
  return startTime === undefined ? Infinity : Date.parse(startTime);
}

/** The more important first: of higher priority, then the one that has run longer. */
export function byImportance(one: PodInfo, other: PodInfo): number {
  if (one.priority !== other.priority) return other.priority - one.priority;
  const started = startTimeOf(one);
  const otherStarted = startTimeOf(other);
  return started === otherStarted ? 0 : started - otherStarted;
}

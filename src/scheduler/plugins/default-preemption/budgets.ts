import { isEmptySelector, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { PodInfo } from '../../framework/node-info.js';

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

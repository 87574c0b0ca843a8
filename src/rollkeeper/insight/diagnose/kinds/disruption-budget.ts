import { counted } from '@rollkeeper/machinery/text';
import { PodDisruptionBudget } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  Node,
  Pod,
  evictionAskedForMs,
  isPodFinished,
  isPodReady,
  tryCompileLabelSelector,
} from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, listed } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type ReadableBudget = DeepReadonly<PodDisruptionBudget>;
type ReadablePod = DeepReadonly<Pod>;

/** PodDisruptionBudgets: whether it lets a pod go, whom it holds up, and what would free it. */
export const budgetDiagnosis: KindDiagnosis<PodDisruptionBudget> = {
  type: PodDisruptionBudget,
  aliases: ['pdb'],
  needs: (namespace) => [...inNamespace([Pod, PodDisruptionBudget], namespace), { type: Node }],
  judge(budget, snapshot, nowMs): Verdict {
    const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0 } = budget.status ?? {};
    const allowed = `${counted(disruptionsAllowed, 'disruption')} allowed: ${currentHealthy} healthy, ${desiredHealthy} needed`;
    const deletion = deletionFindings(budget);
    const good = { state: 'healthy', sentence: allowed } as const;
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    const refusal = whyBudgetRefuses(budget, snapshot, nowMs);
    return {
      good,
      findings: [...(refusal ? [refusal] : []), ...selectionFindings(budget, snapshot)],
    };
  },
};

/** The budgets that an eviction of a pod has to respect. */
export function budgetsOver(pod: ReadablePod, snapshot: Snapshot): readonly ReadableBudget[] {
  return snapshot
    .list<PodDisruptionBudget>(PodDisruptionBudget, pod.metadata.namespace)
    .filter(({ spec }) => tryCompileLabelSelector(spec?.selector)?.(pod.metadata.labels) === true);
}

/** Why a budget lets no pod go. Undefined: it does, or has no pods. */
export function whyBudgetRefuses(
  budget: ReadableBudget,
  snapshot: Snapshot,
  nowMs: number,
): DiagnosisFinding | undefined {
  const { conditions = [], currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  const { disruptionsAllowed = 0, expectedPods = 0 } = budget.status ?? {};
  const condition = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const since = condition?.lastTransitionTime;
  const common = since === undefined ? {} : { since };
  if (condition?.reason === 'SyncFailed')
    return {
      ...common,
      cause: 'pdb-sync-failed',
      severity: 'blocked',
      summary: `its controller cannot compute the allowed disruptions: ${condition.message}`,
      unblockedBy: [
        "use pods whose owner has a scale: maxUnavailable and percentages need the owner's replicas",
      ],
    };
  if (disruptionsAllowed > 0 || expectedPods === 0) return undefined;
  const waiting = whoWaits(budget, snapshot, nowMs);
  const waits = waiting.length === 0 ? '' : `; waiting for it: ${listed(waiting)}`;
  const sick = podsOf(budget, snapshot).filter((pod) => !isPodReady(pod));
  if (desiredHealthy >= expectedPods)
    return {
      ...common,
      cause: 'pdb-never-allows',
      severity: waiting.length > 0 ? 'blocked' : 'note',
      summary: `it never lets a pod go: ${desiredHealthy} of ${expectedPods} must be healthy (${limitOf(budget)})${waits}`,
      unblockedBy: [
        'run one more replica than the budget needs',
        'or set maxUnavailable: 1 instead of this limit',
        'or, for a Deployment, set the annotation rollkeeper.dev/on-eviction: surge, which replaces a pod before its eviction',
      ],
    };
  return {
    ...common,
    cause: 'pdb-blocks',
    severity: waiting.length > 0 ? 'blocked' : 'waits',
    summary: `no pod may be evicted now: ${currentHealthy} healthy, ${desiredHealthy} needed (${limitOf(budget)})${waits}`,
    pods: sick.slice(0, NAMED).map(({ metadata, status }) => ({
      name: metadata.name,
      reason: status?.phase === 'Running' ? 'not ready' : (status?.phase ?? 'Pending'),
    })),
    unblockedBy: [
      sick.length > 0
        ? `${counted(sick.length, 'pod')} becoming ready: rollkeeper explain pod ${budget.metadata.namespace}/${sick[0]?.metadata.name}`
        : 'make more pods ready',
    ],
  };
}

const NAMED = 10;

function limitOf({ spec }: ReadableBudget): string {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return minAvailable === undefined
    ? `maxUnavailable ${maxUnavailable ?? 1}`
    : `minAvailable ${minAvailable}`;
}

function podsOf({ metadata, spec }: ReadableBudget, snapshot: Snapshot): readonly ReadablePod[] {
  const matches = tryCompileLabelSelector(spec?.selector);
  if (!matches) return [];
  return snapshot
    .list<Pod>(Pod, metadata.namespace)
    .filter((pod) => !isPodFinished(pod) && matches(pod.metadata.labels));
}

/** Pods that someone wants to evict: asked for, or on a node that is being emptied. */
function whoWaits(budget: ReadableBudget, snapshot: Snapshot, nowMs: number): readonly string[] {
  const cordoned = new Set(
    snapshot
      .list<Node>(Node)
      .filter(({ spec }) => spec?.unschedulable === true)
      .map(({ metadata }) => metadata.name),
  );
  return podsOf(budget, snapshot).flatMap((pod) => {
    const node = pod.spec.nodeName;
    const drained = node !== undefined && cordoned.has(node);
    if (drained) return [`the drain of node ${node} (pod ${pod.metadata.name})`];
    return evictionAskedForMs(pod, nowMs) === undefined ? [] : [`the eviction of pod ${pod.metadata.name}`];
  });
}

function selectionFindings(budget: ReadableBudget, snapshot: Snapshot): DiagnosisFinding[] {
  const pods = podsOf(budget, snapshot);
  if (pods.length === 0 && snapshot.isKnown(Pod, budget.metadata.namespace))
    return [
      {
        cause: 'pdb-selects-nothing',
        severity: 'note',
        summary: 'its selector matches no pod, so it protects nothing',
        unblockedBy: ['correct its selector or the labels of the pods: kubectl get pods --show-labels'],
      },
    ];
  const others = new Set(
    pods.flatMap((pod) =>
      budgetsOver(pod, snapshot)
        .map(({ metadata }) => metadata.name)
        .filter((name) => name !== budget.metadata.name),
    ),
  );
  if (others.size === 0) return [];
  const { namespace } = budget.metadata;
  return [
    {
      cause: 'pdb-overlap',
      severity: 'blocked',
      summary: `it and ${listed([...others])} take the same pods: the API evicts no pod with two budgets`,
      objects: [...others].map((name) => ({
        kind: 'PodDisruptionBudget',
        name,
        ...(namespace !== undefined && { namespace }),
      })),
      unblockedBy: ['use one budget for each pod: delete one, or narrow its selector'],
    },
  ];
}

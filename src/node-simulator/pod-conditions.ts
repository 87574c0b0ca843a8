import type { DeepReadonly, Pod } from '../base/kubernetes/index.js';
import type { ContainerStatus } from './decide-container.js';

export type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];
type ReadablePod = DeepReadonly<Pod>;

interface Verdict {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/**
 * The conditions that a kubelet reports; those of others are kept. A condition that stays keeps its time.
 * Source: k/k pkg/kubelet/status/generate.go.
 */
export function decidePodConditions(
  pod: ReadablePod,
  statuses: readonly ContainerStatus[],
  now: string,
): PodCondition[] {
  const containersReady = containersVerdict(statuses);
  return withVerdicts(pod, now, [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'ContainersReady', ...containersReady },
    { type: 'Ready', ...readyVerdict(pod, containersReady) },
  ]);
}

/** The conditions of a pod whose containers have all ended. */
export function conditionsOfEnded(
  pod: ReadablePod,
  phase: 'Succeeded' | 'Failed',
  now: string,
): PodCondition[] {
  const reason = phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
  return withVerdicts(pod, now, [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' && { reason }) },
    { type: 'ContainersReady', status: 'False', reason },
    { type: 'Ready', status: 'False', reason },
  ]);
}

/** The pod's conditions, with the one that says that no node takes it. */
export function unschedulableConditions(pod: ReadablePod, message: string, now: string): PodCondition[] {
  return withVerdicts(pod, now, [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
  ]);
}

function withVerdicts(pod: ReadablePod, now: string, verdicts: readonly Verdict[]): PodCondition[] {
  const current = (pod.status?.conditions ?? []) as readonly PodCondition[];
  const others = current.filter(({ type }) => !verdicts.some((verdict) => verdict.type === type));
  return [
    ...verdicts.map((verdict): PodCondition => {
      const before = current.find(({ type }) => type === verdict.type);
      const same = before?.status === verdict.status;
      const kept = before?.observedGeneration;
      return {
        ...verdict,
        lastTransitionTime: (same ? before.lastTransitionTime : undefined) ?? now,
        ...(kept === undefined ? {} : { observedGeneration: kept }),
        ...(before && 'lastProbeTime' in before ? { lastProbeTime: before.lastProbeTime } : {}),
      };
    }),
    ...others,
  ];
}

function containersVerdict(statuses: readonly ContainerStatus[]): Omit<Verdict, 'type'> {
  const unready = statuses.filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { status: 'True' };
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${unready.join(' ')}]`,
  };
}

function readyVerdict(pod: ReadablePod, containers: Omit<Verdict, 'type'>): Omit<Verdict, 'type'> {
  if (containers.status === 'False') return containers;
  const missing = (pod.spec.readinessGates ?? []).filter(
    ({ conditionType }) =>
      !pod.status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  if (missing.length === 0) return containers;
  const texts = missing.map(
    ({ conditionType }) =>
      `corresponding condition of pod readiness gate "${conditionType}" does not exist or is not True.`,
  );
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: texts.join(', ') };
}

import { transitionTime } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import type { ContainerStatus } from './container-status.js';

export type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];
type ReadablePod = DeepReadonly<Pod>;

interface Verdict {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/**
 * The conditions that a kubelet reports; others are kept. An unchanged condition keeps its time. Source: k/k
 * pkg/kubelet/status/generate.go.
 */
export function decidePodConditions(
  pod: ReadablePod,
  { containers, hasSandbox = true, initContainers }: PodContainers,
  now: string,
): PodCondition[] {
  const containersReady = containersVerdict([...sidecarsOf(pod, initContainers), ...containers]);
  return withVerdicts(pod, now, [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', ...initializedVerdict(pod, hasBegun(containers) ? [] : initContainers) },
    { type: 'ContainersReady', ...containersReady },
    { type: 'Ready', ...readyVerdict(pod, containersReady) },
  ]);
}

/**
 * The conditions of a pod whose containers have all ended.
 * @param unfinished its init containers, if it did not get beyond them. @default none
 */
export function conditionsOfEnded(
  pod: ReadablePod,
  phase: 'Succeeded' | 'Failed',
  now: string,
  unfinished: readonly ContainerStatus[] = [],
): PodCondition[] {
  const reason = phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
  return withVerdicts(pod, now, [
    { type: 'PodReadyToStartContainers', status: 'False' },
    { type: 'PodScheduled', status: 'True' },
    {
      type: 'Initialized',
      ...initializedVerdict(pod, unfinished),
      ...(phase === 'Succeeded' && { reason }),
    },
    { type: 'ContainersReady', status: 'False', reason },
    { type: 'Ready', status: 'False', reason },
  ]);
}

/** The reported containers of a pod. */
interface PodContainers {
  /** Whether its volumes are mounted and its network is there. @default true */
  readonly hasSandbox?: boolean;
  readonly initContainers: readonly ContainerStatus[];
  readonly containers: readonly ContainerStatus[];
}

type ReadableStatus = NonNullable<DeepReadonly<PodStatus>['containerStatuses']>[number];

/** The statuses of all containers, in start order. */
export function statusesOf(status: DeepReadonly<PodStatus>): readonly ReadableStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

export function isConditionTrue({ status }: ReadablePod, asked: string): boolean {
  return status?.conditions?.some((each) => each.type === asked && each.status === 'True') ?? false;
}

/** Whether any of the main containers has been started: then the init containers are done. Source: HasAnyRegularContainerStarted. */
export function hasBegun(statuses: readonly ReadableStatus[]): boolean {
  return statuses.some(
    ({ lastState, state }) => state?.running ?? state?.terminated ?? lastState?.terminated ?? false,
  );
}

function sidecarsOf({ spec }: ReadablePod, statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const names = new Set(
    spec.initContainers?.filter((one) => one.restartPolicy === 'Always').map(({ name }) => name),
  );
  return statuses.filter(({ name }) => names.has(name));
}

function initializedVerdict(pod: ReadablePod, statuses: readonly ContainerStatus[]): Omit<Verdict, 'type'> {
  const sidecars = new Set(sidecarsOf(pod, statuses));
  const incomplete = statuses.filter((status) =>
    sidecars.has(status) ? status.started !== true : status.state?.terminated?.exitCode !== 0,
  );
  if (incomplete.length === 0) return { status: 'True' };
  const names = incomplete.map(({ name }) => name).join(' ');
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${names}]`,
  };
}

function withVerdicts(pod: ReadablePod, now: string, verdicts: readonly Verdict[]): PodCondition[] {
  const current = pod.status?.conditions ?? [];
  const others = current.filter(({ type }) => !verdicts.some((verdict) => verdict.type === type));
  return [
    ...verdicts.map((verdict): PodCondition => {
      const before = current.find(({ type }) => type === verdict.type);
      const kept = pod.metadata.generation ?? before?.observedGeneration;
      return {
        ...verdict,
        lastTransitionTime: transitionTime(before, verdict.status, now),
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

import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import {
  NANOS,
  cloneJson,
  isSidecar,
  nanosOf,
  resizedResources,
  totalOfPod,
  writableCopy,
} from '@rollkeeper/machinery/kubernetes';
import type { Amounts, DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { ContainerStatus } from './container-status.js';
import type { PodCondition } from './pod-conditions.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableStatus = DeepReadonly<ContainerStatus>;
type Container = DeepReadonly<coreV1.Container>;
type Condition = DeepReadonly<PodCondition>;
type Status = NonNullable<ReadablePod['status']>;
type Resources = coreV1.ResourceRequirements;

/** The room that a node can give to one of its pods. */
export interface NodeRoom {
  readonly allocatable: Amounts;
  /** Allocated to the node's other pods. */
  readonly taken: Amounts;
}

/** A resize goes through two steps, which a watcher can tell apart: the node grants it, then carries it out. */
export type ResizePlan =
  | { readonly step: 'none' }
  /** The node has not the room, now or ever. */
  | { readonly step: 'pending'; readonly reason: 'Deferred' | 'Infeasible'; readonly message: string }
  | { readonly step: 'allocate' }
  | { readonly step: 'actuate' };

const NO_RESIZE: ResizePlan = { step: 'none' };
const PENDING = 'PodResizePending';
const IN_PROGRESS = 'PodResizeInProgress';

/**
 * The state of the resize of a pod that its node has started. Without knowledge of the node, there is room. Source:
 * canResizePod in pkg/kubelet/allocation/allocation_manager.go.
 */
export function decideResize(pod: ReadablePod, roomFor?: () => NodeRoom | undefined): ResizePlan {
  if (!isResizeWanted(pod)) return NO_RESIZE;
  if (isGranted(pod)) return { step: 'actuate' };
  const room = roomFor?.();
  const refusal = room && refusalIn(totalOfPod(pod.spec, 'requests'), room);
  return refusal ? { step: 'pending', ...refusal } : { step: 'allocate' };
}

function isResizeWanted(pod: ReadablePod): boolean {
  const { spec, status: podStatus } = pod;
  if (podStatus?.resources && resizedResources(spec.resources, podStatus.resources).length > 0) return true;
  return resizable(pod).some(([{ resources }, status]) => {
    if (status?.resources === undefined) return false;
    const { allocatedResources: requests } = status;
    if (resizedResources({ requests: resources?.requests }, { requests }).length > 0) return true;
    return status.state?.running !== undefined && resizedResources(resources, status.resources).length > 0;
  });
}

/** Whether the node has granted just what the spec says now. */
function isGranted(pod: ReadablePod): boolean {
  const condition = conditionOf(pod, IN_PROGRESS);
  return condition !== undefined && condition.observedGeneration === pod.metadata.generation;
}

/** Containers that can be resized, each with its status. */
function resizable({ spec, status }: ReadablePod): (readonly [Container, ReadableStatus | undefined])[] {
  const inits = spec.initContainers?.filter(isSidecar) ?? [];
  return [
    ...inits.map((one) => [one, statusOf(status?.initContainerStatuses, one)] as const),
    ...spec.containers.map((one) => [one, statusOf(status?.containerStatuses, one)] as const),
  ];
}

function statusOf(
  statuses: readonly ReadableStatus[] | undefined,
  { name }: Container,
): ReadableStatus | undefined {
  return statuses?.find((status) => status.name === name);
}

function conditionOf({ status }: Pick<ReadablePod, 'status'>, type: string): Condition | undefined {
  return status?.conditions?.find((one) => one.type === type && one.status === 'True');
}

/** Amounts as a kubelet counts and prints them: thousandths of a cpu, bytes. */
const UNITS = [
  ['cpu', NANOS / 1000n],
  ['memory', NANOS],
] as const;

/** In the kubelet's words. */
function refusalIn(
  wanted: Amounts,
  { allocatable, taken }: NodeRoom,
): { reason: 'Deferred' | 'Infeasible'; message: string } | undefined {
  const facts = UNITS.map(([name, unit]) => ({
    name,
    requested: nanosOf(wanted[name]) / unit,
    used: nanosOf(taken[name]) / unit,
    capacity: nanosOf(allocatable[name]) / unit,
  }));
  const beyond = facts.find(({ requested, capacity }) => requested > capacity);
  if (beyond) {
    const { name, requested, capacity } = beyond;
    const message = `Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}`;
    return { reason: 'Infeasible', message };
  }
  const lacking = facts.find(
    ({ requested, used, capacity }) => requested > 0n && requested + used > capacity,
  );
  if (!lacking) return undefined;
  const { name, requested, used, capacity } = lacking;
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: 'Deferred', message };
}

/** Whether the pod waits until others leave it room. */
export function isDeferred(plan: ResizePlan): boolean {
  return plan.step === 'pending' && plan.reason === 'Deferred';
}

/** Whether a status says that a resize was granted, and is not carried out yet. */
export function isResizing(status: Status): boolean {
  return conditionOf({ status }, IN_PROGRESS) !== undefined;
}

/** Why a resize has not begun, by a status. */
export function pendingResize(status: Status): Condition | undefined {
  return conditionOf({ status }, PENDING);
}

/** Whether a pod is shown to wait until others leave it room for its resize. */
export function isShownDeferred({ status = {} }: ReadablePod): boolean {
  return pendingResize(status)?.reason === 'Deferred';
}

/** Names of the running containers that have to be restarted, so that what is carried out now has an effect. */
export function restartedByResize(pod: ReadablePod, plan: ResizePlan): ReadonlySet<string> {
  if (plan.step !== 'actuate') return new Set();
  const restarted = resizable(pod).filter(([{ resources, resizePolicy = [] }, status]) => {
    if (!status?.state?.running) return false;
    const changed = resizedResources(resources, status.resources);
    return resizePolicy.some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' && changed.includes(resourceName),
    );
  });
  return new Set(restarted.map(([{ name }]) => name));
}

/**
 * Adds to the status of a container what it was allocated and what it has. One that has not started yet has nothing.
 * @param before its status up to now
 */
export function withResources(
  status: ContainerStatus,
  container: Container,
  before: ReadableStatus | undefined,
  { step }: ResizePlan,
): ContainerStatus {
  const isRunning = status.state?.running !== undefined;
  if (!isRunning && before?.resources === undefined) return status;
  const wanted = resourcesOf(container);
  const held = before?.resources === undefined ? wanted : writableCopy<Resources>(before.resources);
  const isKept = step === 'pending';
  const requests = isKept && before?.resources ? before.allocatedResources : wanted.requests;
  const isSameRun = isRunning && status.containerID === before?.containerID;
  const has = isKept || (step === 'allocate' && isSameRun) ? held : wanted;
  const { allocatedResources: _allocated, ...rest } = status;
  return { ...rest, ...(requests && { allocatedResources: { ...requests } }), resources: has };
}

function resourcesOf({ resources = {} }: Container): Resources {
  const { limits, requests } = resources;
  return { ...(limits && { limits: { ...limits } }), ...(requests && { requests: { ...requests } }) };
}

/** The same for what the pod asks for as a whole. */
export function podResources(
  { spec, status }: ReadablePod,
  { step }: ResizePlan,
): Pick<NonNullable<Pod['status']>, 'allocatedResources' | 'resources'> {
  if (!spec.resources) return {};
  const { limits, requests } = writableCopy<Resources>(spec.resources);
  const before = status?.resources ? writableCopy<Resources>(status.resources) : undefined;
  const allocated = step === 'pending' ? cloneJson(status?.allocatedResources) : requests;
  return {
    ...(allocated && { allocatedResources: allocated }),
    resources: (step === 'pending' || step === 'allocate') && before ? before : { limits, requests },
  };
}

/** The conditions with those about the resize. One whose reason is the same keeps its time. */
export function withResizeConditions(
  conditions: readonly PodCondition[],
  pod: ReadablePod,
  plan: ResizePlan,
  now: string,
): PodCondition[] {
  const others = conditions.filter(({ type }) => type !== PENDING && type !== IN_PROGRESS);
  const { generation } = pod.metadata;
  const condition = (type: string, about: { reason?: string; message?: string }): PodCondition => {
    const before = conditionOf(pod, type);
    const lastTransitionTime = before?.lastTransitionTime ?? now;
    return {
      type,
      status: 'True',
      ...about,
      lastTransitionTime,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  };
  if (plan.step === 'allocate') return [...others, condition(IN_PROGRESS, {})];
  if (plan.step !== 'pending') return others;
  const { reason, message } = plan;
  return [...others, condition(PENDING, { reason, message })];
}

import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isSidecar, resizedResources, asSent } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../../shared/index.js';
import type { ContainerList, ResourceChange, Resources } from './resource-changes.js';

type ReadablePod = DeepReadonly<Pod>;
type Container = ReadablePod['spec']['containers'][number];

/** The state of the resize of a pod. `refused`: its node will not do it. */
export type ResizeState =
  | { readonly kind: 'to-do' }
  | { readonly kind: 'under-way' }
  | { readonly kind: 'deferred'; readonly sinceMs: number; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'done' };

/** The state of a resize, as the pod and its node report it. */
export function resizeStateOf(pod: ReadablePod, changes: readonly ResourceChange[]): ResizeState {
  if (changes.some((change) => !hasAsked(pod, change))) return { kind: 'to-do' };
  const pending = conditionOf(pod, 'PodResizePending');
  const why = pending?.message ?? '';
  if (pending?.reason === 'Infeasible') return { kind: 'refused', why };
  if (pending) return { kind: 'deferred', sinceMs: parseTimeMs(pending.lastTransitionTime) ?? 0, why };
  const isSeen = (pod.status?.observedGeneration ?? 0) >= (pod.metadata.generation ?? 0);
  const isUnderWay = conditionOf(pod, 'PodResizeInProgress') !== undefined || !isSeen;
  return isUnderWay || changes.some((change) => !isInForce(pod, change))
    ? { kind: 'under-way' }
    : { kind: 'done' };
}

/** The pod with the resources that are asked for; others that it has, such as a namespace's defaults, stay. */
export function withResources(pod: ReadablePod, changes: readonly ResourceChange[]): Pod {
  const resized = (list: ContainerList, container: Container): Container => {
    const change = changes.find((each) => each.list === list && each.container === container.name);
    if (!change) return container;
    const { resources } = container;
    const joined: Resources = {
      ...resources,
      requests: { ...resources?.requests, ...amountsOf(change.resources.requests) },
      limits: { ...resources?.limits, ...amountsOf(change.resources.limits) },
    };
    return { ...container, resources: joined };
  };
  const { containers, initContainers } = pod.spec;
  const spec = {
    ...pod.spec,
    containers: containers.map((each) => resized('containers', each)),
    ...(initContainers && { initContainers: initContainers.map((each) => resized('initContainers', each)) }),
  };
  return asSent<Pod>({ ...pod, spec });
}

type Amounts = NonNullable<Resources['requests']>;

function amountsOf({ cpu, memory }: Amounts = {}): Amounts {
  return { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
}

/** Whether the pod's spec has all that the change states. */
function hasAsked(pod: ReadablePod, { container, list, resources }: ResourceChange): boolean {
  const found = pod.spec[list]?.find(({ name }) => name === container);
  if (!found) return false;
  const stated = (part: 'requests' | 'limits'): Amounts => {
    const wanted = amountsOf(resources[part]);
    return Object.fromEntries(
      Object.keys(wanted).flatMap((name) => {
        const amount = found.resources?.[part]?.[name];
        return amount === undefined ? [] : [[name, amount]];
      }),
    );
  };
  const wanted = { requests: amountsOf(resources.requests), limits: amountsOf(resources.limits) };
  const has = { requests: stated('requests'), limits: stated('limits') };
  return resizedResources(has, wanted).length === 0;
}

/** Whether a running container has what its spec says. One that does not run gets it when it starts. */
function isInForce({ spec, status }: ReadablePod, { container, list }: ResourceChange): boolean {
  const asked = spec[list]?.find(({ name }) => name === container);
  const statuses =
    list === 'containers'
      ? status?.containerStatuses
      : asked && isSidecar(asked)
        ? status?.initContainerStatuses
        : undefined;
  const found = statuses?.find(({ name }) => name === container);
  if (!found?.state?.running || found.resources === undefined) return true;
  return resizedResources(asked?.resources, found.resources).length === 0;
}

function conditionOf({ status }: ReadablePod, type: string) {
  return status?.conditions?.find((one) => one.type === type && one.status === 'True');
}

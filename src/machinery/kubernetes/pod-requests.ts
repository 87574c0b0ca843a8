import type { Container, ContainerStatus, ResourceRequirements } from '../generated/types/core-v1.js';
import { addAmounts, greaterAmounts } from './amounts.js';
import type { Decoded } from './decoded.js';
import { ownField } from './json-values.js';
import type { DeepReadonly, Pod, PodSpec } from './objects.js';
import { nanosOf } from './quantity.js';
import type { Amounts } from './quantity.js';

type ReadableSpec = DeepReadonly<Decoded<PodSpec>>;
type ReadableContainer = DeepReadonly<Decoded<Container>>;
type ReadablePod = Pick<DeepReadonly<Pod>, 'spec' | 'status'>;
type Part = 'requests' | 'limits';

/** Whether an init container keeps running beside the others. */
export function isSidecar({ restartPolicy }: { readonly restartPolicy?: string }): boolean {
  return restartPolicy === 'Always';
}

/** How amounts are put together, in the form in which they are kept. */
export interface AmountArithmetic<T> {
  readonly none: T;
  /** Both at once. */
  readonly add: (one: T, other: T) => T;
  /** Returns the larger of both for each resource. */
  readonly greater: (one: T, other: T) => T;
}

/**
 * The amounts that the containers of a pod need at any time: the sum of all containers and the sidecars (init
 * containers that keep running). If one of the other init containers needs more, with the sidecars started before it,
 * its sum counts instead. Source: PodRequests in k8s.io/component-helpers/resource.
 */
export function mostAtOnce<T, C extends { readonly restartPolicy?: string }>(
  {
    containers = [],
    initContainers = [],
  }: { readonly containers?: readonly C[]; readonly initContainers?: readonly C[] },
  amountsOf: (container: C) => T,
  { add, greater, none }: AmountArithmetic<T>,
): T {
  let [lasting, most] = [none, none];
  for (const container of initContainers) {
    const during = add(amountsOf(container), lasting);
    if (isSidecar(container)) lasting = during;
    most = greater(most, during);
  }
  const running = containers.reduce((sum, container) => add(sum, amountsOf(container)), none);
  return greater(add(running, lasting), most);
}

const OF_QUANTITIES: AmountArithmetic<Amounts> = { none: {}, add: addAmounts, greater: greaterAmounts };

/**
 * {@link mostAtOnce} in quantities, but what the pod as a whole asks for comes first.
 * @param amountsOf what one container needs. @default what its spec says
 */
export function totalOfPod(
  spec: ReadableSpec,
  part: Part,
  amountsOf: (container: ReadableContainer) => Amounts = ({ resources }) => resources?.[part] ?? {},
): Amounts {
  const total: Amounts = { ...mostAtOnce(spec, amountsOf, OF_QUANTITIES), ...spec.resources?.[part] };
  const isAdded = (name: string): boolean => part === 'requests' || total[name] !== undefined;
  const overhead = Object.entries(spec.overhead ?? {}).filter(([name]) => isAdded(name));
  return overhead.length > 0 ? addAmounts(total, Object.fromEntries(overhead)) : total;
}

/** The spec with other requests of the pod as a whole, if it has any. */
function withOwnRequests(spec: DeepReadonly<PodSpec>, requests: Amounts): ReadableSpec {
  return spec.resources ? { ...spec, resources: { ...spec.resources, requests } } : spec;
}

/** The requests that its node has allocated to a pod; those that it asks for if nothing is written about it yet. */
export function requestsAllocated(pod: ReadablePod): Amounts {
  const statuses = statusesByName(pod);
  const { spec, status } = pod;
  const own = status?.allocatedResources ?? spec.resources?.requests ?? {};
  return totalOfPod(withOwnRequests(spec, own), 'requests', ({ name, resources }) => {
    return statuses.get(name)?.allocatedResources ?? resources?.requests ?? {};
  });
}

function statusesByName({
  status,
}: ReadablePod): ReadonlyMap<string | undefined, DeepReadonly<ContainerStatus>> {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return new Map(all.map((one) => [one.name, one]));
}

/** The resources of a pod that can be changed while it runs. */
const RESIZABLE = ['cpu', 'memory'] as const;

/** Names of the resources whose request or limit differs, among those that can be changed while a pod runs. */
export function resizedResources(
  a: DeepReadonly<Decoded<ResourceRequirements>> | undefined,
  b: DeepReadonly<Decoded<ResourceRequirements>> | undefined,
): readonly string[] {
  return RESIZABLE.filter((name) =>
    (['requests', 'limits'] as const).some((part) => !sameAmount(a?.[part], b?.[part], name)),
  );
}

function sameAmount(a: Amounts | undefined, b: Amounts | undefined, name: string): boolean {
  const [one, other] = [ownField(a, name), ownField(b, name)];
  return (one === undefined) === (other === undefined) && nanosOf(one) === nanosOf(other);
}

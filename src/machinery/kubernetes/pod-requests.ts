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

/** Whether an init container goes on beside the others. */
export function isSidecar({ restartPolicy }: { readonly restartPolicy?: string }): boolean {
  return restartPolicy === 'Always';
}

/**
 * What a pod needs at any time: all containers together, with those init containers that go on; or, if that is more, one
 * of the other init containers with those that went on before it. What the pod as a whole asks for comes first. Source:
 * PodRequests in k8s.io/component-helpers/resource.
 * @param amountsOf what one container needs. @default what its spec says
 */
export function totalOfPod(
  spec: ReadableSpec,
  part: Part,
  amountsOf: (container: ReadableContainer) => Amounts = ({ resources }) => resources?.[part] ?? {},
): Amounts {
  let lasting: Amounts = {};
  let most: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const during = addAmounts(amountsOf(container), lasting);
    if (isSidecar(container)) lasting = during;
    most = greaterAmounts(most, during);
  }
  const running = addAmounts(...(spec.containers ?? []).map(amountsOf), lasting);
  const total: Amounts = { ...greaterAmounts(running, most), ...spec.resources?.[part] };
  const isAdded = (name: string): boolean => part === 'requests' || total[name] !== undefined;
  const overhead = Object.entries(spec.overhead ?? {}).filter(([name]) => isAdded(name));
  return overhead.length > 0 ? addAmounts(total, Object.fromEntries(overhead)) : total;
}

/**
 * The requests of a pod that a scheduler counts: while a resize is under way, the greatest of what is wanted, allocated and
 * in use. What its node can never give does not count. Source: PodRequests with UseStatusResources.
 */
export function requestsInUse(pod: ReadablePod): Amounts {
  const statuses = statusesByName(pod);
  if (statuses.size === 0) return totalOfPod(pod.spec, 'requests');
  const { spec, status } = pod;
  const isInfeasible = status?.conditions?.some(
    ({ type, status, reason }) => type === 'PodResizePending' && status === 'True' && reason === 'Infeasible',
  );
  const inUse = (wanted: Amounts = {}, of: Held = {}): Amounts => {
    const held = greaterAmounts(of.allocatedResources ?? {}, of.resources?.requests ?? {});
    return isInfeasible && Object.keys(held).length > 0 ? held : greaterAmounts(wanted, held);
  };
  return totalOfPod(withOwnRequests(spec, inUse(spec.resources?.requests, status)), 'requests', (container) =>
    inUse(container.resources?.requests, statuses.get(container.name)),
  );
}

/** What a node says that a pod, or one of its containers, has. */
interface Held {
  readonly allocatedResources?: Amounts;
  readonly resources?: { readonly requests?: Amounts };
}

/** The spec with other requests of the pod as a whole, if it has any. */
function withOwnRequests(spec: DeepReadonly<PodSpec>, requests: Amounts): ReadableSpec {
  return spec.resources ? { ...spec, resources: { ...spec.resources, requests } } : spec;
}

/** What its node has allocated to a pod; what it asks for where nothing is written about it yet. */
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

/** What can be changed of a pod while it runs. */
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

import {
  findCondition,
  NANOS,
  exactInteger,
  isSidecar,
  mostAtOnce,
  nanosOf,
} from '@rollkeeper/machinery/kubernetes';
import type { AmountArithmetic, Amounts, Int64 } from '@rollkeeper/machinery/kubernetes';
import type { CpuAndMemory, ReadablePod, ResourceAmounts } from '../framework/node-info.js';

export const CPU = 'cpu';
export const MEMORY = 'memory';
const HUGE_PAGES = 'hugepages-';

/** Billionths by resource, as quantities are summed before they are rounded. */
type Nanos = Map<string, bigint>;

/** The requests that scores count for a container that states nothing: 100m and 200 MiB. */
const DEFAULT_REQUESTS: ReadonlyMap<string, bigint> = new Map([
  [CPU, NANOS / 10n],
  [MEMORY, 200n * 1024n * 1024n * NANOS],
]);
const NO_DEFAULTS: ReadonlyMap<string, bigint> = new Map();

interface CountOptions {
  /** Replaces what a container does not state. @default nothing */
  readonly defaults?: ReadonlyMap<string, bigint>;
  /** @default true */
  readonly withPodLevel?: boolean;
}

/**
 * The amounts that the pod takes of a node. Containers and sidecars run together; init containers run one after the
 * other beside the sidecars that started before them; the larger counts. Requests of the pod as a whole replace that
 * where there are any, and overhead comes on top. While a container is being resized it counts with the largest of what
 * it asks for, was promised and has.
 */
export function requestsOf(pod: ReadablePod): ResourceAmounts {
  const amounts = new Map<string, Int64>();
  for (const [resource, nanos] of count(pod)) amounts.set(resource, rounded(resource, nanos));
  return amounts;
}

/** cpu and memory of a pod on a node, as scores count them. */
export function nonZeroRequestsOf(pod: ReadablePod): CpuAndMemory {
  if (!hasPodLevelRequests(pod)) return cpuAndMemory(count(pod, { defaults: DEFAULT_REQUESTS }));
  const stated = count(pod);
  const missing = new Map([...DEFAULT_REQUESTS].filter(([resource]) => !stated.has(resource)));
  return cpuAndMemory(missing.size > 0 ? count(pod, { defaults: missing }) : stated);
}

/** cpu and memory of the pod that is being scheduled, as scores count them: kube-scheduler leaves out pod-level requests here. */
export function scoredRequestsOf(pod: ReadablePod): CpuAndMemory {
  return cpuAndMemory(count(pod, { defaults: DEFAULT_REQUESTS, withPodLevel: false }));
}

function cpuAndMemory(nanos: Nanos): CpuAndMemory {
  return { cpu: rounded(CPU, nanos.get(CPU) ?? 0n), memory: rounded(MEMORY, nanos.get(MEMORY) ?? 0n) };
}

/** The amount of a quantity: milli-cores of cpu, whole units of the rest, rounded up. */
export function amountOf(resource: string, quantity: string | number | undefined): Int64 {
  return rounded(resource, nanosOf(quantity));
}

const NANOS_PER_MILLI = NANOS / 1000n;

function rounded(resource: string, nanos: bigint): Int64 {
  const unit = resource === CPU ? NANOS_PER_MILLI : NANOS;
  return exactInteger(nanos > 0n ? (nanos + unit - 1n) / unit : nanos / unit);
}

function count(pod: ReadablePod, { defaults = NO_DEFAULTS, withPodLevel = true }: CountOptions = {}): Nanos {
  const isInfeasible = isResizeInfeasible(pod);
  const ends = new Set(pod.spec.initContainers?.filter((each) => !isSidecar(each)).map(({ name }) => name));
  // Only containers that keep running are ever resized.
  const ofContainer = (container: Container): Nanos =>
    withDefaults(
      ends.has(container.name)
        ? nanosOfAll(container.resources?.requests)
        : resized(container, pod, isInfeasible),
      defaults,
    );
  const together = new Map(mostAtOnce(pod.spec, ofContainer, IN_NANOS));
  if (withPodLevel) replaceByPodLevel(together, pod, isInfeasible);
  addTo(together, nanosOfAll(pod.spec.overhead));
  return together;
}

const IN_NANOS: AmountArithmetic<Nanos> = {
  none: new Map(),
  add(one, other) {
    const sum = new Map(one);
    addTo(sum, other);
    return sum;
  },
  greater(one, other) {
    const most = new Map(one);
    raiseTo(most, other);
    return most;
  },
};

type Container = ReadablePod['spec']['containers'][number];

function resized(container: Container, pod: ReadablePod, isInfeasible: boolean): Nanos {
  const asked = nanosOfAll(container.resources?.requests);
  const status = statusOf(pod, container.name);
  if (!status?.resources) return asked;
  const counted = isInfeasible ? new Map<string, bigint>() : asked;
  raiseTo(counted, nanosOfAll(status.resources.requests));
  raiseTo(counted, nanosOfAll(status.allocatedResources));
  return counted;
}

function statusOf({ status }: ReadablePod, name: string) {
  return (
    status?.containerStatuses?.find((each) => each.name === name) ??
    status?.initContainerStatuses?.find((each) => each.name === name)
  );
}

function isResizeInfeasible({ status }: ReadablePod): boolean {
  return findCondition(status?.conditions, 'PodResizePending')?.reason === 'Infeasible';
}

function hasPodLevelRequests({ spec }: ReadablePod): boolean {
  return Object.keys(spec.resources?.requests ?? {}).some(isPodLevelResource);
}

function isPodLevelResource(resource: string): boolean {
  return resource === CPU || resource === MEMORY || resource.startsWith(HUGE_PAGES);
}

function replaceByPodLevel(together: Nanos, pod: ReadablePod, isInfeasible: boolean): void {
  if (!hasPodLevelRequests(pod)) return;
  let wanted = nanosOfAll(pod.spec.resources?.requests);
  const status = pod.status;
  if (status?.resources) {
    if (isInfeasible) wanted = new Map();
    raiseTo(wanted, nanosOfAll(status.resources.requests));
    raiseTo(wanted, nanosOfAll(status.allocatedResources));
  }
  for (const [resource, nanos] of wanted) if (isPodLevelResource(resource)) together.set(resource, nanos);
}

function nanosOfAll(amounts: Amounts | undefined): Nanos {
  const nanos: Nanos = new Map();
  for (const resource in amounts) nanos.set(resource, nanosOf(amounts[resource]));
  return nanos;
}

function withDefaults(nanos: Nanos, defaults: ReadonlyMap<string, bigint>): Nanos {
  for (const [resource, amount] of defaults) if (!nanos.has(resource)) nanos.set(resource, amount);
  return nanos;
}

function addTo(sum: Nanos, other: Nanos): void {
  for (const [resource, nanos] of other) sum.set(resource, (sum.get(resource) ?? 0n) + nanos);
}

function raiseTo(most: Nanos, other: Nanos): void {
  for (const [resource, nanos] of other) {
    const known = most.get(resource);
    if (known === undefined || nanos > known) most.set(resource, nanos);
  }
}

import type { DeepReadonly, Pod } from './objects.js';
import { containerAnnotation } from './pods.js';
import { parseQuantity } from './quantity.js';

/** The usage of something, in billionths of a CPU and of a byte. */
export interface Usage {
  readonly cpu: bigint;
  readonly memory: bigint;
}

export interface ContainerUsage extends Usage {
  readonly name: string;
}

type Resource = keyof Usage | 'ephemeral-storage';
type Container = DeepReadonly<Pod>['spec']['containers'][number];

/**
 * On a pod, what each of its containers uses: a quantity (`250m`), or a share of what the container requests (`150%`). With a dot
 * and a container's name behind it, what that one uses.
 */
const ANNOTATIONS: Readonly<Record<Resource, string>> = {
  cpu: 'node.rollkeeper.dev/cpu-usage',
  memory: 'node.rollkeeper.dev/memory-usage',
  'ephemeral-storage': 'node.rollkeeper.dev/disk-usage',
};

/** Usage of an idle container, the default. */
const IDLE: Readonly<Record<Resource, bigint>> = {
  cpu: 1_000_000n,
  memory: 1_048_576n * 1_000_000_000n,
  'ephemeral-storage': 0n,
};

const SHARE = /^(\d{1,6})%$/;

/** The usage of each running container of the pod; none: nothing is measured. */
export function containerUsages(pod: DeepReadonly<Pod>): ContainerUsage[] {
  return runningContainers(pod).map((container) => ({
    name: container.name,
    cpu: usageOf(pod, container, 'cpu'),
    memory: usageOf(pod, container, 'memory'),
  }));
}

/**
 * The usage of its node's `memory` or `ephemeral-storage` by each running container of the pod, in billionths of a
 * byte.
 */
export function usagesOfNode(
  pod: DeepReadonly<Pod>,
  resource: 'memory' | 'ephemeral-storage',
): { readonly container: Container; readonly used: bigint }[] {
  return runningContainers(pod).map((container) => ({
    container,
    used: usageOf(pod, container, resource),
  }));
}

/** Whether a pod says what it uses of its node's memory or disk. */
export function saysUsageOfNode({ metadata: { annotations = {} } }: DeepReadonly<Pod>): boolean {
  return Object.keys(annotations).some(
    (name) => name.startsWith(ANNOTATIONS.memory) || name.startsWith(ANNOTATIONS['ephemeral-storage']),
  );
}

function runningContainers(pod: DeepReadonly<Pod>): readonly Container[] {
  if (pod.status?.phase !== 'Running') return [];
  const statuses = [...(pod.status.containerStatuses ?? []), ...(pod.status.initContainerStatuses ?? [])];
  const running = new Set(statuses.filter(({ state }) => state?.running).map(({ name }) => name));
  const containers: readonly Container[] = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return containers.filter(({ name }) => running.has(name));
}

export const NO_USAGE: Usage = { cpu: 0n, memory: 0n };

export function totalUsage(usages: readonly Usage[]): Usage {
  return usages.reduce(
    (sum, { cpu, memory }) => ({ cpu: sum.cpu + cpu, memory: sum.memory + memory }),
    NO_USAGE,
  );
}

/** An annotation that cannot be read counts as if it were not there. */
function usageOf({ metadata }: DeepReadonly<Pod>, container: Container, resource: Resource): bigint {
  const text = (containerAnnotation(metadata, ANNOTATIONS[resource], container.name) ?? '').trim();
  const share = SHARE.exec(text)?.[1];
  const used = share === undefined ? parseQuantity(text)?.nanos : shareOf(BigInt(share), container, resource);
  return used === undefined || used < 0n ? IDLE[resource] : used;
}

function shareOf(percent: bigint, { resources }: Container, resource: Resource): bigint | undefined {
  const request = resources?.requests?.[resource];
  const nanos = request === undefined ? undefined : parseQuantity(String(request))?.nanos;
  return nanos === undefined ? undefined : (nanos * percent) / 100n;
}

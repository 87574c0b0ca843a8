import type { MetricSpec, MetricStatus } from '@rollkeeper/machinery/types/autoscaling-v2';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { formatQuantity } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import { ApiStatusError, defineKind, isNotFound } from '@rollkeeper/runtime';
import { parseTimeMs } from '../shared/index.js';
import type { PodSample, Problem, Proposal, ResourceMetric } from './decide-replicas.js';
import { milliOf } from './decide-replicas.js';

/** Pod usage from metrics-server. */
export type PodMetrics = KubernetesObject & {
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly {
    readonly name: string;
    readonly usage?: Readonly<Record<string, string>>;
  }[];
};
const PodMetrics = defineKind<PodMetrics>({
  ...{ group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics', resource: 'pods' },
});

/** metrics-server's default averaging window. */
const DEFAULT_WINDOW_MS = 60_000;

/** @throws ApiStatusError if no metrics server is installed, in the words of Kubernetes' client */
export async function readPodMetrics(
  client: ApiClient,
  namespace: string,
  labelSelector: string,
): Promise<readonly PodMetrics[]> {
  try {
    const { items } = await client.list<PodMetrics>(PodMetrics, { namespace, labelSelector });
    return items;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ApiStatusError({ code: 404, message: NOT_SERVED }, { cause: error });
  }
}

/** A server that does not serve a type answers with a text. */
const NOT_SERVED = 'the server could not find the requested resource (get pods.metrics.k8s.io)';

/** Why there are no usages, in the words of kube-controller-manager. */
export function unfetched(problem: string): string {
  return `unable to fetch metrics from resource metrics API: ${problem}`;
}

/** Compiles a metric of a spec; an unsupported type is a problem. */
export function compileMetric(metric: DeepReadonly<MetricSpec>): ResourceMetric | Problem {
  const source = metric.type === 'ContainerResource' ? metric.containerResource : metric.resource;
  if ((metric.type !== 'Resource' && metric.type !== 'ContainerResource') || !source)
    return { problem: `no metrics of type ${metric.type} are served here` };
  const { averageUtilization, averageValue } = source.target;
  const averageMilli = averageValue === undefined ? undefined : milliOf(averageValue);
  const named = {
    resource: source.name,
    ...(metric.containerResource && { container: metric.containerResource.container }),
  };
  if (averageMilli !== undefined) return { ...named, target: { averageMilli } };
  if (averageUtilization !== undefined) return { ...named, target: { utilization: averageUtilization } };
  return {
    problem:
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
  };
}

/** By pod; a pod with an unmeasured container is omitted. */
export function samplesOf(
  { container: only, resource }: ResourceMetric,
  metrics: readonly PodMetrics[],
): ReadonlyMap<string, PodSample> | Problem {
  const samples = new Map<string, PodSample>();
  for (const { containers = [], metadata, timestamp, window } of metrics) {
    const counted = containers.filter(({ name }) => only === undefined || name === only);
    if (only !== undefined && counted.length === 0)
      return {
        problem: `container ${only} not present in metrics for pod ${metadata.namespace}/${metadata.name}`,
      };
    const amounts = counted.map(({ usage }) => milliOf(usage?.[resource] ?? ''));
    if (amounts.length === 0 || amounts.includes(undefined)) continue;
    samples.set(metadata.name, {
      milli: amounts.reduce<number>((sum, each) => sum + (each ?? 0), 0),
      takenMs: parseTimeMs(timestamp) ?? 0,
      windowMs: windowMsOf(window),
    });
  }
  return samples.size > 0 ? samples : { problem: 'no metrics returned from resource metrics API' };
}

/** The name of a metric in reasons and events. */
export function nameOf({ container, resource, target }: ResourceMetric): string {
  const what = container === undefined ? 'resource' : 'container resource';
  return `${resource} ${what}${'utilization' in target ? ' utilization (percentage of request)' : ''}`;
}

export function metricStatus(
  { container, resource: name }: ResourceMetric,
  { current: { averageMilli, averageUtilization } }: Proposal,
): MetricStatus {
  const nanos = BigInt(averageMilli) * 1_000_000n;
  const current = {
    ...(averageUtilization !== undefined && { averageUtilization }),
    averageValue: formatQuantity({ nanos, format: 'DecimalSI' }),
  };
  return container === undefined
    ? { type: 'Resource', resource: { name, current } }
    : { type: 'ContainerResource', containerResource: { container, name, current } };
}

export function failureReason({ type }: DeepReadonly<MetricSpec>): string {
  return type === 'Object' || type === 'Pods' || type === 'External' || type === 'ContainerResource'
    ? `FailedGet${type}Metric`
    : 'FailedGetResourceMetric';
}

/**
 * The missing value, in the Event about the whole autoscaler. Source: `computeReplicasForMetric` in k/k
 * pkg/controller/podautoscaler.
 */
export function metricValueOf(metric: DeepReadonly<MetricSpec>): string {
  if (metric.type === 'Resource') return `${metric.resource?.name} resource metric value`;
  if (metric.type === 'ContainerResource') return `${metric.containerResource?.name} container metric value`;
  if (metric.type === 'External') return `${metric.external?.metric.name} external metric value`;
  return `${metric.type.toLowerCase()} metric value`;
}

/** The prefix of a problem, as in the genuine controller. */
export function describeProblem(metric: ResourceMetric, { problem }: Problem): string {
  const { resource, target } = metric;
  return `failed to get ${resource} ${'utilization' in target ? 'utilization' : 'usage'}: ${problem}`;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A Go duration (`15s`, `1m0s`), in milliseconds. */
function windowMsOf(text = ''): number {
  let total = 0;
  for (const [, number, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gy))
    total += Number(number) * (UNIT_MS[unit] ?? 0);
  return total > 0 ? total : DEFAULT_WINDOW_MS;
}

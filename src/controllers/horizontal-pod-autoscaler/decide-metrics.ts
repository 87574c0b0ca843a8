import type { MetricSpec, MetricStatus } from '@rollkeeper/machinery/types/autoscaling-v2';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { CustomMetric, CustomReading } from './custom-metric.js';
import { compileCustomMetric, customMetricName, customMetricStatus } from './custom-metric.js';
import type { CustomFacts } from './decide-custom.js';
import { decideCustomReplicas } from './decide-custom.js';
import type { Problem } from './decide-replicas.js';
import { decideReplicas, isProblem } from './decide-replicas.js';
import type { PodMetrics } from './read-metric.js';
import {
  compileMetric,
  describeProblem,
  failureReason,
  metricValueOf,
  metricStatus,
  nameOf,
  samplesOf,
} from './read-metric.js';

/** A metric without a value. */
interface FailedMetric {
  /** `FailedGetResourceMetric` */
  readonly reason: string;
  /** For the Event and the condition. */
  readonly message: string;
  /** The missing value: `cpu resource metric value`. */
  readonly value: string;
}

export interface DecidedMetrics {
  /** Absent: no decision can be made. */
  readonly wanted?: { readonly replicas: number; readonly metric: string };
  /** One per metric of the spec, in order; empty for a failed one. */
  readonly statuses: readonly MetricStatus[];
  readonly failures: readonly FailedMetric[];
}

/**
 * The number of pods that the metrics ask for: the maximum over all of them. If some are unknown, the others may
 * increase the number, but not decrease it.
 * @param metrics usage of pods, or the error
 * @param custom what was read for the metrics of other types, by their place in `specs`
 * Source: `computeReplicasForMetrics` in k/k pkg/controller/podautoscaler.
 */
export function decideMetrics(
  specs: readonly DeepReadonly<MetricSpec>[],
  metrics: readonly PodMetrics[] | Problem,
  facts: CustomFacts,
  custom: ReadonlyMap<number, CustomReading | Problem> = new Map(),
): DecidedMetrics {
  let wanted: DecidedMetrics['wanted'];
  const statuses: MetricStatus[] = [];
  const failures: FailedMetric[] = [];
  for (const [index, spec] of specs.entries()) {
    const other = compileCustomMetric(spec);
    const decided = other
      ? decideCustom(spec, other, custom.get(index), facts)
      : decideMetric(spec, metrics, facts);
    if ('status' in decided) {
      statuses.push(decided.status);
      if (!wanted || decided.replicas > wanted.replicas) wanted = decided;
    } else {
      statuses.push({ type: '' });
      failures.push({ ...decided, value: metricValueOf(spec) });
    }
  }
  const isHeldBack = failures.length > 0 && wanted !== undefined && wanted.replicas < facts.currentReplicas;
  return { statuses, failures, ...(wanted && !isHeldBack && { wanted }) };
}

type DecidedMetric =
  | Omit<FailedMetric, 'value'>
  | { readonly replicas: number; readonly metric: string; readonly status: MetricStatus };

function decideCustom(
  spec: DeepReadonly<MetricSpec>,
  metric: CustomMetric | Problem,
  reading: CustomReading | Problem | undefined,
  facts: CustomFacts,
): DecidedMetric {
  const reason = failureReason(spec);
  if (isProblem(metric)) return { reason, message: metric.problem };
  if (!reading) return { reason, message: `metric ${metric.name} was not read` };
  const outcome = isProblem(reading) ? reading : decideCustomReplicas(metric, reading, facts);
  if (isProblem(outcome)) return { reason, message: outcome.problem };
  const status = customMetricStatus(metric, outcome.milli);
  return { replicas: outcome.replicas, metric: customMetricName(metric), status };
}

function decideMetric(
  spec: DeepReadonly<MetricSpec>,
  metrics: readonly PodMetrics[] | Problem,
  facts: CustomFacts,
): DecidedMetric {
  const reason = failureReason(spec);
  const metric = compileMetric(spec);
  if (isProblem(metric)) return { reason, message: metric.problem };
  const samples = isProblem(metrics) ? metrics : samplesOf(metric, metrics);
  const outcome = isProblem(samples)
    ? { problem: `unable to get metrics for resource ${metric.resource}: ${samples.problem}` }
    : decideReplicas(metric, { ...facts, samples });
  if (isProblem(outcome)) return { reason, message: describeProblem(metric, outcome) };
  return { replicas: outcome.replicas, metric: nameOf(metric), status: metricStatus(metric, outcome) };
}

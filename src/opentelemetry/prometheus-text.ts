import type { DataPoint, Histogram, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { DataPointType } from '@opentelemetry/sdk-metrics';

type Labels = Readonly<Record<string, unknown>>;

/**
 * Collected metrics in the text that Prometheus scrapes, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function prometheusText({ scopeMetrics }: ResourceMetrics): string {
  return scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .map(familyOf)
    .join('');
}

function familyOf(metric: MetricData): string {
  const { description, name: given, unit } = metric.descriptor;
  const name = familyName(given, metric);
  const lines = [
    `# HELP ${name} ${escaped(description || 'description missing')}`,
    ...(unit ? [`# UNIT ${name} ${escaped(unit)}`] : []),
    `# TYPE ${name} ${typeOf(metric)}`,
    ...samplesOf(name, metric),
  ];
  return `${lines.join('\n')}\n`;
}

function samplesOf(name: string, metric: MetricData): readonly string[] {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
    case DataPointType.GAUGE:
      return metric.dataPoints.map(({ attributes, value }) => sample(name, attributes, value));
    case DataPointType.HISTOGRAM:
      return metric.dataPoints.flatMap((point) => bucketsOf(name, point));
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      // Prometheus' text has none, and no instrument of ours makes one.
      return [];
  }
}

/** Buckets of the text are cumulative, and the last has no bound. */
function bucketsOf(name: string, { attributes, value }: DataPoint<Histogram>): readonly string[] {
  const { buckets, count, sum } = value;
  let below = 0;
  const bounds = buckets.counts.map((inBucket, index) => {
    below += inBucket;
    const le = numberText(buckets.boundaries[index] ?? Infinity);
    return sample(`${name}_bucket`, { ...attributes, le }, below);
  });
  return [
    sample(`${name}_count`, attributes, count),
    ...(sum === undefined ? [] : [sample(`${name}_sum`, attributes, sum)]),
    ...bounds,
  ];
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${wordOf(label)}="${labelText(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${numberText(value)}`;
}

/** Counters end in `_total`. */
function familyName(given: string, metric: MetricData): string {
  const word = wordOf(given);
  const isCounter = metric.dataPointType === DataPointType.SUM && metric.isMonotonic;
  return isCounter && !word.endsWith('_total') ? `${word}_total` : word;
}

function typeOf(metric: MetricData): string {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return metric.isMonotonic ? 'counter' : 'gauge';
    case DataPointType.GAUGE:
      return 'gauge';
    case DataPointType.HISTOGRAM:
      return 'histogram';
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return 'untyped';
  }
}

/** OpenTelemetry's names may have dots and hyphens. */
function wordOf(name: string): string {
  return name.replaceAll(/\W+/g, '_').replaceAll(/_{2,}/g, '_');
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function labelText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  return escaped(text).replaceAll('"', String.raw`\"`);
}

function escaped(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

import type { MetricSpec, MetricStatus } from '@rollkeeper/machinery/types/autoscaling-v2';
import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { formatQuantity, selectorText, writableCopy } from '@rollkeeper/machinery/kubernetes';
import { errorMessage, TerminalError } from '@rollkeeper/machinery/errors';
import type { ApiClient } from '@rollkeeper/runtime';
import { apiStatusOf } from '@rollkeeper/runtime';
import { parseTimeMs } from '../shared/index.js';
import type { PodSample, Problem } from './decide-replicas.js';
import { milliOf } from './decide-replicas.js';

type Selector = DeepReadonly<LabelSelector>;

interface Described {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

/** A metric of type `Pods`, `Object` or `External`. */
export interface CustomMetric {
  readonly type: 'Pods' | 'Object' | 'External';
  readonly name: string;
  readonly selector?: Selector;
  /** The object that it is about. */
  readonly described?: Described;
  /** The whole, or each pod's share; thousandths. */
  readonly target: { readonly valueMilli: number } | { readonly averageMilli: number };
}

/** A measurement: of each pod, or of the whole. */
export type CustomReading = { readonly samples: ReadonlyMap<string, PodSample> } | { readonly milli: number };

/** The part of the APIs of custom and external metrics that is read. */
interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  readonly window?: number;
  readonly value?: string | number;
}

/** Undefined: it is of another type. */
export function compileCustomMetric(spec: DeepReadonly<MetricSpec>): CustomMetric | Problem | undefined {
  const { external, object, pods, type } = spec;
  const source =
    type === 'Pods' ? pods : type === 'Object' ? object : type === 'External' ? external : undefined;
  if (!source || (type !== 'Pods' && type !== 'Object' && type !== 'External')) return undefined;
  const { metric, target } = source;
  const described = type === 'Object' ? object?.describedObject : undefined;
  const common: Omit<CustomMetric, 'target'> = {
    type,
    name: metric.name,
    ...(metric.selector && { selector: metric.selector }),
    ...(described && { described }),
  };
  const averageMilli = target.averageValue === undefined ? undefined : milliOf(target.averageValue);
  const valueMilli = target.value === undefined ? undefined : milliOf(target.value);
  // An external metric is taken per pod where both are given, one of an object as its target says.
  const isAverage = valueMilli === undefined || type !== 'Object' || target.type === 'AverageValue';
  if (averageMilli !== undefined && isAverage) return { ...common, target: { averageMilli } };
  if (valueMilli !== undefined && type !== 'Pods') return { ...common, target: { valueMilli } };
  return {
    problem: `invalid ${type.toLowerCase()} metric source: neither a value target nor an average value target was set`,
  };
}

export interface Where {
  readonly namespace: string;
  /** The selector of the pods that are scaled. */
  readonly podSelector: string;
}

/** Reads a metric from the API that serves it. A refusal is a problem, in the words of the genuine controller. */
export async function readCustomMetric(
  client: ApiClient,
  metric: CustomMetric,
  where: Where,
): Promise<CustomReading | Problem> {
  try {
    const items = await listValues(client, metric, where);
    return readingOf(metric, items, where);
  } catch (error) {
    if (apiStatusOf(error) === undefined && !(error instanceof TerminalError)) throw error;
    return { problem: unable(metric, where.namespace, errorMessage(error)) };
  }
}

/** The answer is a list of values, which are no objects. */
async function listValues(
  client: ApiClient,
  metric: CustomMetric,
  { namespace, podSelector }: Where,
): Promise<readonly MetricValue[]> {
  const selector = metric.selector ? selectorText(metric.selector) : undefined;
  const { query, ref, subresource, type } =
    metric.type === 'External'
      ? {
          ...{ type: { ...EXTERNAL, ...NAMESPACES }, ref: { name: namespace } },
          ...{ subresource: encodeURIComponent(metric.name), query: { labelSelector: selector } },
        }
      : {
          ...(await customPath(client, metric, namespace)),
          query: {
            ...(metric.type === 'Pods' && { labelSelector: podSelector }),
            metricLabelSelector: selector,
          },
        };
  const { items } = await client.get<MetricValues>(type, ref, { subresource, query });
  return items ?? [];
}

interface MetricValues extends KubernetesObject {
  readonly items?: readonly MetricValue[];
}

const EXTERNAL = { group: 'external.metrics.k8s.io', version: 'v1beta1', kind: 'ExternalMetricValueList' };
const CUSTOM = { group: 'custom.metrics.k8s.io', version: 'v1beta2', kind: 'MetricValueList' };
const NAMESPACES = { resource: 'namespaces', namespaced: false };

/** The path of a metric of all pods, of one object, or of a namespace. */
async function customPath(client: ApiClient, { described, name: metric }: CustomMetric, namespace: string) {
  const name = encodeURIComponent(metric);
  const below = (scope: string, subresource: string) => ({
    ...{ type: { ...CUSTOM, ...NAMESPACES }, ref: { name: scope }, subresource },
  });
  if (!described) return below(namespace, `pods/*/${name}`);
  const { apiVersion = '', kind, name: of } = described;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  if (kind === 'Namespace' && group === '') return below(of, `metrics/${name}`);
  const { resources } = await client.discover();
  const found = resources.find((each) => each.kind === kind && each.group === group);
  if (!found) throw new TerminalError(`no matches for kind "${kind}" in group "${group}"`);
  const resource = group === '' ? found.resource : `${found.resource}.${group}`;
  if (found.namespaced) return below(namespace, `${resource}/${encodeURIComponent(of)}/${name}`);
  return { type: { ...CUSTOM, resource, namespaced: false }, ref: { name: of }, subresource: name };
}

function readingOf(
  metric: CustomMetric,
  items: readonly MetricValue[],
  { namespace }: Where,
): CustomReading | Problem {
  const api = metric.type === 'External' ? 'external' : 'custom';
  const found = items.map(({ value = '' }) => milliOf(value));
  const values = found.filter((milli) => milli !== undefined);
  if (values.length === 0 || values.length < found.length)
    return { problem: unable(metric, namespace, `no metrics returned from ${api} metrics API`) };
  if (metric.type === 'External') return { milli: values.reduce((sum, each) => sum + each, 0) };
  if (metric.type === 'Object') return { milli: values[0] ?? 0 };
  const samples = items.map(({ describedObject, timestamp, windowSeconds }, index) => {
    const windowMs = (windowSeconds ?? 60) * 1000;
    const sample = { milli: values[index] ?? 0, takenMs: parseTimeMs(timestamp) ?? 0, windowMs };
    return [describedObject?.name ?? '', sample] as const;
  });
  return { samples: new Map(samples) };
}

/** The second text is wrong there as well: it has one argument more than places. */
function unable({ described, name, selector, type }: CustomMetric, namespace: string, why: string): string {
  if (type === 'External')
    return `unable to get external metric ${namespace}/${name}/${goSelector(selector)}: ${why}`;
  if (!described) return `unable to get metric ${name}: ${why}`;
  return `unable to get metric ${name}: ${described.kind} on ${namespace} ${described.name}/${why}`;
}

/** The name of a metric in reasons and Events. */
export function customMetricName({ described, name, selector, target, type }: CustomMetric): string {
  if (type === 'Pods') return `pods metric ${name}`;
  if (type === 'Object' && 'valueMilli' in target) return `${described?.kind} metric ${name}`;
  return `external metric ${name}(${goSelector(selector)})`;
}

/** As Go prints one. */
function goSelector(selector: Selector | undefined): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const pairs = labels.map(([key, value]) => `${key}: ${value},`).join('');
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

/** @param milli what was measured: of each pod, or of the whole */
export function customMetricStatus(metric: CustomMetric, milli: number): MetricStatus {
  const { described, name, selector, target, type } = metric;
  const quantity = formatQuantity({ nanos: BigInt(milli) * 1_000_000n, format: 'DecimalSI' });
  const current = 'averageMilli' in target ? { averageValue: quantity } : { value: quantity };
  const identified = {
    metric: { name, ...(selector && { selector: writableCopy<LabelSelector>(selector) }) },
    current,
  };
  if (type === 'Pods') return { type, pods: identified };
  if (type === 'External') return { type, external: identified };
  const describedObject = { ...described, kind: described?.kind ?? '', name: described?.name ?? '' };
  return { type, object: { ...identified, describedObject } };
}

import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  apiVersionOf,
  parseLabelSelector,
  qualifiedResource,
  ownField,
  parseQuantity,
} from '@rollkeeper/machinery/kubernetes';
import { methodNotAllowed, notFound, unknownPath } from '../../schema/errors/index.js';
import { ok } from '../../http/index.js';
import type { ApiRequest, ApiResponse } from '../../http/index.js';
import type { KindDefinition } from '../../kinds/index.js';
import { contextOf, storageKeyOf } from '../registry/registry-context.js';
import type { RegistryContext } from '../registry/index.js';

/** On an object: what is measured of it. `node.rollkeeper.dev/metric-queue-length: "120"`. */
const METRIC = 'node.rollkeeper.dev/metric-';
/** On a Namespace: what is measured outside of the cluster for what is in it. */
const EXTERNAL_METRIC = 'node.rollkeeper.dev/external-metric-';

interface AnnotatedValue {
  /** A quantity. */
  readonly value: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** One value of several, with its labels or without: `120`, `120{queue=mail,tier=gold}`. */
const VALUE = /^([^{}]+)(?:\{([^{}]*)\})?$/;

/**
 * The values of a metric in an object's annotations, as far as the selector selects them. What cannot be read is not
 * there.
 */
export function annotatedValues(
  { metadata: { annotations = {} } }: DeepReadonly<KubernetesObject>,
  metric: string,
  { isExternal = false, selector = '' }: { readonly isExternal?: boolean; readonly selector?: string } = {},
): readonly AnnotatedValue[] {
  const text = ownField(annotations, `${isExternal ? EXTERNAL_METRIC : METRIC}${metric}`) ?? '';
  const selects = parseLabelSelector(selector) ?? (() => true);
  return text
    .split(';')
    .flatMap((part) => readValue(part.trim()) ?? [])
    .filter(({ labels }) => selects(labels));
}

function readValue(text: string): AnnotatedValue | undefined {
  const [, value = '', labels = ''] = VALUE.exec(text) ?? [];
  if (parseQuantity(value.trim()) === undefined) return undefined;
  const pairs = labels.split(',').map((pair) => pair.split('='));
  const named = pairs.flatMap(([key = '', label = '']): [string, string][] =>
    key.trim() === '' ? [] : [[key.trim(), label.trim()]],
  );
  return { value: value.trim(), labels: Object.fromEntries(named) };
}

const CUSTOM = { group: 'custom.metrics.k8s.io', version: 'v1beta2' };
const EXTERNAL = { group: 'external.metrics.k8s.io', version: 'v1beta1' };

interface CustomMetricsCall {
  readonly group: string;
  readonly version: string;
  readonly request: ApiRequest;
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
}

/** Whether the path is one of the APIs of custom and external metrics. */
export function isCustomMetrics({ group, version }: Pick<CustomMetricsCall, 'group' | 'version'>): boolean {
  return [CUSTOM, EXTERNAL].some((each) => each.group === group && each.version === version);
}

/**
 * `GET` of what objects say is measured of them, as an adapter of a monitoring system serves it: of all pods (all of `pods`), of one
 * object (`RESOURCE.GROUP/NAME/METRIC`), of a namespace (`metrics/METRIC`), and from outside of the cluster.
 */
export async function handleCustomMetrics(
  context: RegistryContext,
  call: CustomMetricsCall,
): Promise<ApiResponse> {
  if (call.request.method !== 'GET' || call.request.flag('watch')) throw methodNotAllowed();
  return ok(
    call.group === EXTERNAL.group ? await externalValues(context, call) : await customValues(context, call),
  );
}

async function externalValues(
  context: RegistryContext,
  { name, namespace, request, resource }: CustomMetricsCall,
): Promise<object> {
  if (name !== '' || namespace === '') throw unknownPath();
  const selector = request.query.get('labelSelector') ?? '';
  const owner = await readObject(context, kindOf(context, 'namespaces'), { namespace: '', name: namespace });
  const values = owner ? annotatedValues(owner, resource, { isExternal: true, selector }) : [];
  const timestamp = toRfc3339(context.clock.now());
  return {
    ...{ kind: 'ExternalMetricValueList', apiVersion: apiVersionOf(EXTERNAL), metadata: {} },
    items: values.map(({ labels, value }) => ({
      ...{ metricName: resource, metricLabels: labels, timestamp, value },
    })),
  };
}

async function customValues(context: RegistryContext, call: CustomMetricsCall): Promise<object> {
  const { name, namespace, request, resource, subresource } = call;
  const isOfNamespace = resource === 'metrics' && subresource === '' && namespace !== '';
  const metric = isOfNamespace ? name : subresource;
  if (metric === '') throw unknownPath();
  const kind = kindOf(context, isOfNamespace ? 'namespaces' : resource);
  const ref = isOfNamespace ? { namespace: '', name: namespace } : { namespace, name };
  const objects =
    name === '*' ? await selected(context, kind, namespace, request) : [await readObject(context, kind, ref)];
  const selector = request.query.get('metricLabelSelector') ?? '';
  const items = objects.flatMap((object) => {
    const [value] = object ? annotatedValues(object, metric, { selector }) : [];
    return object && value ? [metricValue(context, kind, object, { metric, value })] : [];
  });
  if (items.length === 0 && name !== '*')
    throw notFound({ group: CUSTOM.group, resource: `${resource}/${metric}` }, ref.name);
  return { kind: 'MetricValueList', apiVersion: apiVersionOf(CUSTOM), metadata: {}, items };
}

function metricValue(
  { clock }: RegistryContext,
  { type }: KindDefinition,
  { metadata }: KubernetesObject,
  { metric, value }: { readonly metric: string; readonly value: AnnotatedValue },
): object {
  const { name, namespace } = metadata;
  return {
    describedObject: {
      kind: type.kind,
      ...(namespace !== undefined && { namespace }),
      name,
      apiVersion: apiVersionOf(type),
    },
    metric: { name: metric, selector: null },
    timestamp: toRfc3339(clock.now()),
    value: value.value,
  };
}

/** Pods that run, by labels; objects of other kinds in any state. */
async function selected(
  context: RegistryContext,
  kind: KindDefinition,
  namespace: string,
  request: ApiRequest,
): Promise<readonly KubernetesObject[]> {
  const selects = parseLabelSelector(request.query.get('labelSelector') ?? '') ?? (() => true);
  const { storage } = contextOf(context, kind);
  const { items } = await storage.list(qualifiedResource(kind.type), { namespace });
  return items.map(({ object }) => object).filter(({ metadata }) => selects(metadata.labels));
}

async function readObject(
  context: RegistryContext,
  kind: KindDefinition,
  ref: { readonly namespace: string; readonly name: string },
): Promise<KubernetesObject | undefined> {
  return (await contextOf(context, kind).storage.get(storageKeyOf({ kind, ...ref })))?.object;
}

/** `deployments.apps` */
function kindOf({ kinds }: RegistryContext, resource: string): KindDefinition {
  const kind = kinds.kinds.find(({ type }) => qualifiedResource(type) === resource);
  if (!kind) throw unknownPath();
  return kind;
}

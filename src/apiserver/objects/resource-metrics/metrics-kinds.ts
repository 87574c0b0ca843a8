import type { DeepReadonly, Node, Pod, UnstructuredObject, Usage } from '@rollkeeper/machinery/kubernetes';
import {
  apiVersionOf,
  containerUsages,
  formatQuantity,
  NANOS,
  objectOfKind,
  parseQuantity,
  totalUsage,
} from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ShownKind, TableCell } from '../../kinds/index.js';

type Quantities = Readonly<Record<keyof Usage, string>>;

/** Either kind. */
interface Metrics extends UnstructuredObject {
  readonly usage?: Quantities;
  readonly containers?: readonly { readonly name: string; readonly usage: Quantities }[];
}

/** The time that a usage was averaged over. */
const WINDOW = '15s';

const COLUMN = { type: 'string', format: '', priority: 0 } as const;

/** The kinds that `kubectl top` and autoscalers read. */
export const NODE_METRICS = metricsKind('NodeMetrics', 'nodes', false);
const POD_METRICS = metricsKind('PodMetrics', 'pods', true);

/** By name, as in discovery. */
export const METRICS_KINDS: readonly ShownKind[] = [NODE_METRICS, POD_METRICS];

/** As discovery shows them. */
export const METRICS_TYPES = METRICS_KINDS.map(({ type }) => ({
  ...type,
  singular: '',
  schema: `io.k8s.metrics.pkg.apis.metrics.v1beta1.${type.kind}`,
  verbs: ['get', 'list'],
}));

export function findMetricsKind(path: {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}): ShownKind | undefined {
  return METRICS_KINDS.find(
    ({ type }) =>
      type.group === path.group && type.resource === path.resource && type.version === path.version,
  );
}

/** @returns undefined for a pod without running containers */
export function podMetrics(pod: DeepReadonly<Pod>, nowMs: number): UnstructuredObject | undefined {
  const usages = containerUsages(pod);
  if (usages.length === 0) return undefined;
  const containers = usages.map(({ name, ...usage }) => ({ name, usage: toQuantities(usage) }));
  return { ...measured(POD_METRICS, pod, nowMs), containers };
}

/** @param usage of all that runs on the node */
export function nodeMetrics(node: DeepReadonly<Node>, usage: Usage, nowMs: number): UnstructuredObject {
  return { ...measured(NODE_METRICS, node, nowMs), usage: toQuantities(usage) };
}

function measured({ type }: ShownKind, { metadata }: DeepReadonly<Pod> | DeepReadonly<Node>, nowMs: number) {
  const { labels, name, namespace } = metadata;
  const timestamp = toRfc3339(nowMs);
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      creationTimestamp: timestamp,
    },
    timestamp,
    window: WINDOW,
  };
}

/** Bytes are whole ones. */
function toQuantities({ cpu, memory }: Usage): Quantities {
  return {
    cpu: formatQuantity({ nanos: cpu, format: 'DecimalSI' }),
    memory: formatQuantity({ nanos: memory - (memory % NANOS), format: 'BinarySI' }),
  };
}

function metricsKind(kind: string, resource: string, namespaced: boolean): ShownKind {
  return {
    type: { group: 'metrics.k8s.io', version: 'v1beta1', resource, kind, namespaced },
    listKind: `${kind}List`,
    columns: [
      { ...COLUMN, name: 'Name', format: 'name', description: 'Whose usage it is.' },
      { ...COLUMN, name: 'cpu', description: 'CPUs in use.' },
      { ...COLUMN, name: 'memory', description: 'Bytes in use.' },
      { ...COLUMN, name: 'Window', description: 'The time over which the usage was averaged.' },
    ],
    toRow,
  };
}

function toRow(object: Readonly<UnstructuredObject>): TableCell[] {
  const { containers = [], metadata, usage } = objectOfKind<Metrics>(object);
  const { cpu, memory } = usage ?? toQuantities(totalUsage(containers.map((each) => toUsage(each.usage))));
  return [metadata.name, cpu, memory, WINDOW];
}

function toUsage({ cpu, memory }: Quantities): Usage {
  return { cpu: parseQuantity(cpu)?.nanos ?? 0n, memory: parseQuantity(memory)?.nanos ?? 0n };
}

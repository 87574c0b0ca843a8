import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ownField, parseLabelSelector, parseQuantity } from '@rollkeeper/machinery/kubernetes';

/** On an object: what is measured of it. `node.rollkeeper.dev/metric-queue-length: "120"`. */
const METRIC = 'node.rollkeeper.dev/metric-';
/** On a Namespace: what is measured outside of the cluster for what is in it. */
const EXTERNAL = 'node.rollkeeper.dev/external-metric-';

export interface AnnotatedValue {
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
  const text = ownField(annotations, `${isExternal ? EXTERNAL : METRIC}${metric}`) ?? '';
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

import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';

/** An object that selects others by their labels. */
export interface LabelSelecting extends KubernetesObject {
  spec: { selector?: LabelSelector };
}

/** Name of the index that finds, by labels, the objects whose selector might match these labels. */
export const SELECTOR_INDEX = 'selectors';

/** Distinguishes the pods of one ReplicaSet of a Deployment from those of its siblings. */
export const POD_TEMPLATE_HASH = 'pod-template-hash';

/**
 * Indexes an object under one requirement of its selector: the most specific one, so that few objects share a value. A
 * selector of expressions alone is indexed under its namespace.
 */
export function selectorIndex(object: DeepReadonly<LabelSelecting>): readonly string[] {
  return [selectorIndexValue(object.metadata.namespace ?? '', object.spec.selector?.matchLabels)];
}

/** The same for required labels of objects that have them elsewhere. */
export function selectorIndexValue(
  namespace: string,
  required: Readonly<Record<string, string>> = {},
): string {
  const keys = Object.keys(required).sort();
  const key = keys.includes(POD_TEMPLATE_HASH) ? POD_TEMPLATE_HASH : keys[0];
  return key === undefined ? anyValue(namespace) : labelIndexValue(namespace, key, required[key] ?? '');
}

/** The values of {@link SELECTOR_INDEX} under which what might select `object` is filed. */
export function selectorIndexValuesFor(object: DeepReadonly<KubernetesObject>): readonly string[] {
  const namespace = object.metadata.namespace ?? '';
  const labels = Object.entries(object.metadata.labels ?? {});
  return [anyValue(namespace), ...labels.map(([key, value]) => labelIndexValue(namespace, key, value))];
}

/** Under which an index files what has, or requires, a label. */
export function labelIndexValue(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}

function anyValue(namespace: string): string {
  return `${namespace}/`;
}

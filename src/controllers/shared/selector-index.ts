import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { compileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { Lister } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX } from '@rollkeeper/runtime';

/** What makes pods and selects them. */
export interface Selecting extends KubernetesObject {
  spec: { selector?: LabelSelector; template?: { metadata?: { labels?: Record<string, string> } } };
}

/** Name of the index that finds, by labels, the objects whose selector might select something with these labels. */
export const SELECTOR_INDEX = 'selectors';

/** Tells the pods of one ReplicaSet of a Deployment from those of its siblings. */
export const POD_TEMPLATE_HASH = 'pod-template-hash';

/**
 * Files an object under one requirement of its selector: the most telling one, so that few objects share a value.
 * A selector of expressions alone is filed under its namespace.
 */
export function selectorIndex(object: DeepReadonly<Selecting>): readonly string[] {
  return [selectorIndexValue(object.metadata.namespace ?? '', object.spec.selector?.matchLabels)];
}

/** The same for labels that are all required, in objects that have them elsewhere. */
export function selectorIndexValue(
  namespace: string,
  required: Readonly<Record<string, string>> = {},
): string {
  const keys = Object.keys(required).sort();
  const key = keys.includes(POD_TEMPLATE_HASH) ? POD_TEMPLATE_HASH : keys[0];
  return key === undefined ? anyValue(namespace) : labelValue(namespace, key, required[key] ?? '');
}

/** Name of the index that finds objects by each of their labels, but for the hash of a template. */
export const LABEL_INDEX = 'labels';

export function labelIndex({ metadata }: DeepReadonly<KubernetesObject>): readonly string[] {
  const { labels = {}, namespace = '' } = metadata;
  return Object.entries(labels)
    .filter(([key]) => key !== POD_TEMPLATE_HASH)
    .map(([key, value]) => labelValue(namespace, key, value));
}

/** The objects of a namespace that a selector selects, out of a cache with a {@link LABEL_INDEX}. */
export function selectedFrom<T extends KubernetesObject>(
  lister: Lister<T>,
  namespace: string,
  selector: DeepReadonly<LabelSelector>,
): readonly DeepReadonly<T>[] {
  const indexed = Object.entries(selector.matchLabels ?? {}).find(([key]) => key !== POD_TEMPLATE_HASH);
  const candidates = indexed
    ? lister.byIndex(LABEL_INDEX, labelValue(namespace, ...indexed))
    : lister.byIndex(NAMESPACE_INDEX, namespace);
  const matches = compileLabelSelector(selector);
  return candidates.filter((each) => matches((each as DeepReadonly<KubernetesObject>).metadata.labels));
}

/** Name of the index that finds, by a label, the objects whose template has it. */
export const TEMPLATE_INDEX = 'template-labels';

/** Files an object under each label of its template, but for the hash, which no other has. */
export function templateIndex(object: DeepReadonly<Selecting>): readonly string[] {
  const { namespace = '' } = object.metadata;
  return Object.entries(object.spec.template?.metadata?.labels ?? {})
    .filter(([key]) => key !== POD_TEMPLATE_HASH)
    .map(([key, value]) => labelValue(namespace, key, value));
}

/** The values of {@link SELECTOR_INDEX} under which whoever might select `object` is filed. */
export function selectorIndexValuesFor(object: DeepReadonly<KubernetesObject>): readonly string[] {
  const namespace = object.metadata.namespace ?? '';
  const labels = Object.entries(object.metadata.labels ?? {});
  return [anyValue(namespace), ...labels.map(([key, value]) => labelValue(namespace, key, value))];
}

function anyValue(namespace: string): string {
  return `${namespace}/`;
}

function labelValue(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}

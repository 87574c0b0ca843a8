import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { compileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { Lister } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, POD_TEMPLATE_HASH, labelIndexValue } from '@rollkeeper/runtime';

/** An object that creates pods and selects them. */
export interface Selecting extends KubernetesObject {
  spec: { selector?: LabelSelector; template?: { metadata?: { labels?: Record<string, string> } } };
}

/** Name of the index that finds objects by each of their labels, except the template hash. */
export const LABEL_INDEX = 'labels';

export function labelIndex({ metadata }: DeepReadonly<KubernetesObject>): readonly string[] {
  const { labels = {}, namespace = '' } = metadata;
  return Object.entries(labels)
    .filter(([key]) => key !== POD_TEMPLATE_HASH)
    .map(([key, value]) => labelIndexValue(namespace, key, value));
}

/** The objects of a namespace that match a selector, from a cache with a {@link LABEL_INDEX}. */
export function selectedFrom<T extends KubernetesObject>(
  lister: Lister<T>,
  namespace: string,
  selector: DeepReadonly<LabelSelector>,
): readonly DeepReadonly<T>[] {
  const indexed = Object.entries(selector.matchLabels ?? {}).find(([key]) => key !== POD_TEMPLATE_HASH);
  const candidates = indexed
    ? lister.byIndex(LABEL_INDEX, labelIndexValue(namespace, ...indexed))
    : lister.byIndex(NAMESPACE_INDEX, namespace);
  const matches = compileLabelSelector(selector);
  return candidates.filter((each) => matches(each.metadata.labels));
}

/** Name of the index that finds, by a label, the objects whose template has it. */
export const TEMPLATE_INDEX = 'template-labels';

/** Indexes an object under each label of its template, except the unique hash. */
export function templateIndex(object: DeepReadonly<Selecting>): readonly string[] {
  const { namespace = '' } = object.metadata;
  return Object.entries(object.spec.template?.metadata?.labels ?? {})
    .filter(([key]) => key !== POD_TEMPLATE_HASH)
    .map(([key, value]) => labelIndexValue(namespace, key, value));
}

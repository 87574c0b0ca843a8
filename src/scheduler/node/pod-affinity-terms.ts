import { isEmptySelector, tryCompileLabelSelector, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import type {
  AffinityTerm,
  PodAffinityTerms,
  ReadablePod,
  WeightedAffinityTerm,
} from '../framework/node-info.js';

type Affinity = NonNullable<ReadablePod['spec']['affinity']>;
type Term = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number];
type WeightedTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['preferredDuringSchedulingIgnoredDuringExecution']
>[number];

const NO_TERMS: PodAffinityTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [] };
const NOTHING: LabelMatcher = () => false;
const EVERYTHING: LabelMatcher = () => true;

export function affinityTermsOf(pod: ReadablePod): PodAffinityTerms {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  if (!podAffinity && !podAntiAffinity) return NO_TERMS;
  const { namespace = '' } = pod.metadata;
  const required = (terms: readonly Term[] = []): AffinityTerm[] =>
    terms.map((term) => compileTerm(term, namespace));
  const preferred = (terms: readonly WeightedTerm[] = []): WeightedAffinityTerm[] =>
    terms.map(({ podAffinityTerm, weight }) => ({ ...compileTerm(podAffinityTerm, namespace), weight }));
  return {
    required: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAnti: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAnti: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
}

function compileTerm(
  { labelSelector, namespaceSelector, namespaces = [], topologyKey }: Term,
  ownNamespace: string,
): AffinityTerm {
  const meant = namespaces.length === 0 && !namespaceSelector ? [ownNamespace] : namespaces;
  const isAnyNamespace = namespaceSelector !== undefined && isEmptySelector(namespaceSelector);
  return {
    topologyKey,
    namespaces: new Set(meant),
    selectsNamespace: !namespaceSelector
      ? undefined
      : isAnyNamespace
        ? EVERYTHING
        : (tryCompileLabelSelector(namespaceSelector) ?? NOTHING),
    selectsLabels: tryCompileLabelSelector(labelSelector) ?? NOTHING,
    key:
      namespaceSelector && !isAnyNamespace
        ? undefined
        : stringifyJson([isAnyNamespace || meant, labelSelector]),
  };
}

/** Labels of the namespaces that terms may select by them. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

/** Whether the term means this pod. */
export function selectsPod(term: AffinityTerm, pod: ReadablePod, namespaceLabels: NamespaceLabels): boolean {
  const { namespace = '' } = pod.metadata;
  const isNamespaceMeant =
    term.namespaces.has(namespace) ||
    (term.selectsNamespace !== undefined && term.selectsNamespace(namespaceLabels(namespace)));
  return isNamespaceMeant && term.selectsLabels(pod.metadata.labels);
}

import type { PodAffinityTerm, TopologySpreadConstraint } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';

type Term = Decoded<Pick<PodAffinityTerm & TopologySpreadConstraint, 'labelSelector' | 'matchLabelKeys'>> &
  Decoded<Pick<PodAffinityTerm, 'mismatchLabelKeys'>>;

/** A pod is prepared once more, under another name, where a generated one is taken. */
const completed = new WeakSet<object>();

/**
 * Completes the selectors of a new pod by the values that its own labels have: `matchLabelKeys: [version]` of a pod with
 * `version: "2"` selects the pods with that version. Terms without a selector select nothing, and stay so. Source: mutatePodAffinity
 * and mutateTopologySpreadConstraints in pkg/registry/core/pod/strategy.go.
 */
export function mergeLabelKeys({ metadata, spec }: DecodedObject<Pod>): void {
  if (!spec?.affinity && !spec?.topologySpreadConstraints) return;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const terms: (Term | undefined)[] = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    ),
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
  ]);
  for (const term of [...terms, ...(spec.topologySpreadConstraints ?? [])])
    if (term?.labelSelector && !completed.has(term)) complete(term, metadata.labels ?? {});
}

function complete(term: Term, labels: Readonly<Record<string, string>>): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const added = [
    ...requirements(matchLabelKeys, 'In', labels),
    ...requirements(mismatchLabelKeys, 'NotIn', labels),
  ];
  if (added.length === 0) return;
  const { matchExpressions = [] } = labelSelector ?? {};
  term.labelSelector = { ...labelSelector, matchExpressions: [...matchExpressions, ...added] };
  completed.add(term);
}

function requirements(
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): { key: string; operator: string; values: string[] }[] {
  return keys.flatMap((key) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

import type { DeepReadonly, LabelSelector } from '@rollkeeper/machinery/kubernetes';

/**
 * A selector as it is spelled in the genuine controller's Events, which print it as Go prints the struct. People search for
 * these words, and tools compare them.
 */
export function selectorWords({
  matchExpressions = [],
  matchLabels = {},
}: DeepReadonly<LabelSelector>): string {
  const labels = Object.entries(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const expressions = matchExpressions
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}

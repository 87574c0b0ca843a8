import type { DeepReadonly, LabelSelector } from '@rollkeeper/machinery/kubernetes';

/**
 * A selector in the spelling of the genuine controller's Events, which print the Go struct. People search for it, and
 * tools compare it.
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

import type { DeepReadonly, LabelSelector } from '../../../base/kubernetes/index.js';

/** A label selector as text, `app=web,tier in (a,b)`; sorted by key. `<none>` where there is nothing to show. */
export function formatSelector(selector: DeepReadonly<LabelSelector> | undefined): string {
  return selectorText(selector) || '<none>';
}

/** The same, empty where there is nothing: as in the status of a Scale. */
export function selectorText(selector: DeepReadonly<LabelSelector> | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({
    key,
    text: expressionText(key, operator, values),
  }));
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function expressionText(key: string, operator: string, values: readonly string[]): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${[...values].sort().join(',')})`;
  }
}

/** Labels as kubectl shows them, sorted by key: `a=1,b=2`. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  return formatSelector({ matchLabels: labels });
}

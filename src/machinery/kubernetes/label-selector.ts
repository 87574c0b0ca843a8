import { InvalidOptionError } from '../errors/index.js';
import { ownField } from './json-values.js';
import type { Decoded } from './decoded.js';
import type { DeepReadonly } from './objects.js';

type Labels = Readonly<Record<string, string>> | undefined;

/** `metav1.LabelSelector`. An empty one matches everything, an absent one nothing. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** Whether a set of labels is selected. */
export type LabelMatcher = (labels: Labels) => boolean;

/**
 * Compiles a selector. An absent selector matches nothing.
 * @throws InvalidOptionError for an operator unknown to Kubernetes
 */
export function compileLabelSelector(
  selector: DeepReadonly<Decoded<LabelSelector>> | undefined,
): LabelMatcher {
  if (!selector) return () => false;
  // The value is compared first: most labels differ from it, and this is asked of every pod.
  const matchers: LabelMatcher[] = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]) =>
      (labels) =>
        labels !== undefined && labels[key] === value && Object.hasOwn(labels, key),
  );
  for (const { key = '', operator = '', values = [] } of selector.matchExpressions ?? []) {
    matchers.push(compileExpression(key, operator, values));
  }
  const [first] = matchers;
  if (first && matchers.length === 1) return first;
  return (labels) => matchers.every((matches) => matches(labels));
}

/**
 * As {@link compileLabelSelector}, but `undefined` for an invalid selector, which the object's own controller reports.
 */
export function tryCompileLabelSelector(
  selector: DeepReadonly<Decoded<LabelSelector>> | undefined,
): LabelMatcher | undefined {
  try {
    return compileLabelSelector(selector);
  } catch {
    return undefined;
  }
}

/** Whether the selector has no requirement at all, and so would select every object of the namespace. */
export function isEmptySelector(selector: DeepReadonly<Decoded<LabelSelector>> | undefined): boolean {
  return (
    Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0
  );
}

function compileExpression(key: string, operator: string, values: readonly string[]): LabelMatcher {
  switch (operator) {
    case 'In':
      return (labels) => isOneOf(values, ownField(labels, key));
    case 'NotIn':
      return (labels) => !isOneOf(values, ownField(labels, key));
    case 'Exists':
      return (labels) => ownField(labels, key) !== undefined;
    case 'DoesNotExist':
      return (labels) => ownField(labels, key) === undefined;
    default:
      throw new InvalidOptionError(
        'matchExpressions.operator',
        `"${operator}" is not a valid label selector operator`,
      );
  }
}

function isOneOf(values: readonly string[], label: string | undefined): boolean {
  return label !== undefined && values.includes(label);
}

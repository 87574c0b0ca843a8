import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { CheckSubject } from './subject.js';

/** Spaces around a name are cut off afterwards: an expression for both would try each way to divide them. */
const VARIABLE = /\{\{([^{}]*)\}\}/g;

const VALUES: Readonly<Record<string, (subject: CheckSubject) => string>> = {
  namespace: ({ namespace }) => namespace,
  name: ({ name }) => name,
  revision: ({ revision }) => revision,
  hash: ({ hash }) => hash,
  replicaset: ({ replicaSet }) => replicaSet,
  check: ({ check }) => check,
  step: ({ step }) => (step === undefined ? '' : String(step)),
};

/** A text between `{{` and `}}` that is none of the variables. */
export function unknownVariable(text: string): string | undefined {
  for (const [, inside = ''] of text.matchAll(VARIABLE)) {
    const name = inside.trim();
    if (!Object.hasOwn(VALUES, name)) return name;
  }
  return undefined;
}

export const VARIABLE_NAMES = Object.keys(VALUES);

/** The query with its variables filled in, each as the inside of a PromQL string in double quotes. */
export function fillQuery(query: string, subject: CheckSubject): string {
  return query.replace(VARIABLE, (whole, inside: string) => {
    const valueOf = ownField(VALUES, inside.trim());
    return valueOf ? inQuotes(valueOf(subject)) : whole;
  });
}

function inQuotes(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

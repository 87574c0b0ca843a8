import type { CheckSubject } from './subject.js';

const VARIABLE = /\{\{\s*([^{}]*?)\s*\}\}/g;

const VALUES = {
  namespace: ({ namespace }: CheckSubject) => namespace,
  name: ({ name }: CheckSubject) => name,
  revision: ({ revision }: CheckSubject) => revision,
  hash: ({ hash }: CheckSubject) => hash,
  replicaset: ({ replicaSet }: CheckSubject) => replicaSet,
  check: ({ check }: CheckSubject) => check,
  step: ({ step }: CheckSubject) => (step === undefined ? '' : String(step)),
} as const;

/** What stands between `{{` and `}}` and is none of the variables. */
export function unknownVariable(text: string): string | undefined {
  for (const [, name = ''] of text.matchAll(VARIABLE)) if (!Object.hasOwn(VALUES, name)) return name;
  return undefined;
}

export const VARIABLE_NAMES = Object.keys(VALUES);

/** The query with its variables filled in, each as the inside of a PromQL string in double quotes. */
export function fillQuery(query: string, subject: CheckSubject): string {
  return query.replace(VARIABLE, (whole, name: string) =>
    Object.hasOwn(VALUES, name) ? inQuotes(VALUES[name as keyof typeof VALUES](subject)) : whole,
  );
}

function inQuotes(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

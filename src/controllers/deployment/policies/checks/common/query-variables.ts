import { ownField, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { CheckSubject } from './subject.js';

/** Spaces around a name are cut off afterwards: an expression for both would try each way to divide them. */
const VARIABLE = /\{\{([^{}]*)\}\}/g;

const VALUES: Readonly<Record<string, (subject: CheckSubject) => string>> = {
  namespace: ({ namespace }) => namespace,
  name: ({ name }) => name,
  revision: ({ revision }) => revision,
  hash: ({ hash }) => hash,
  replicaset: ({ replicaSet }) => replicaSet,
  service: ({ service }) => service ?? '',
  'stable-revision': ({ stable }) => stable?.revision ?? '',
  'stable-hash': ({ stable }) => stable?.hash ?? '',
  'stable-replicaset': ({ stable }) => stable?.replicaSet ?? '',
  'stable-service': ({ stable }) => stable?.service ?? '',
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

/** Writes the value of a variable so that it stays a value where it is put. */
export type Escape = (value: string) => string;

/** As the inside of a string in double quotes: PromQL. */
export const inQuotes: Escape = (value) =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
/** As a part of the path or the query of a URL. */
export const inUrl: Escape = encodeURIComponent;
/** As the inside of a string of JSON. */
export const inJson: Escape = (value) => stringifyJson(value).slice(1, -1);
/** Without any character that could mean something in a language: names of Kubernetes have none. */
export const asWord: Escape = (value) => value.replaceAll(/[^A-Za-z0-9._-]/g, '_');

/**
 * The query with its variables filled in.
 * @param escape @default {@link inQuotes}
 */
export function fillQuery(query: string, subject: CheckSubject, escape: Escape = inQuotes): string {
  return query.replace(VARIABLE, (whole, inside: string) => {
    const valueOf = ownField(VALUES, inside.trim());
    return valueOf ? escape(valueOf(subject)) : whole;
  });
}

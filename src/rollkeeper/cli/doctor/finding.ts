/** The checks, in the order of the report. */
export const CHECKS = [
  'api',
  'rights',
  'redis',
  'replicas',
  'leader',
  'slots',
  'caches',
  'queues',
  'webhooks',
  'rivals',
  'sets',
] as const;
type Check = (typeof CHECKS)[number];

/** `skipped`: it could not be looked at, and the summary says why. */
export type Level = 'ok' | 'skipped' | 'warning' | 'failure';

interface Calm {
  readonly check: Check;
  readonly level: 'ok' | 'skipped';
  readonly summary: string;
  /** The way to look at what was skipped. */
  readonly remedy?: string;
}

interface Trouble {
  readonly check: Check;
  readonly level: 'warning' | 'failure';
  readonly summary: string;
  /** The remedy. */
  readonly remedy: string;
}

export type Finding = Calm | Trouble;

/** A report on an installation. */
export interface Diagnosis {
  /** The worst level of the findings; what was skipped does not count. */
  readonly result: 'ok' | 'warning' | 'failure';
  readonly findings: readonly Finding[];
}

/** Something that was asked for: its answer, why there is none, or why it was not asked. */
export type Asked<T> =
  | { readonly is: 'answered'; readonly value: T }
  | { readonly is: 'unanswered'; readonly why: string }
  | { readonly is: 'not-asked'; readonly why: string };

export const answered = <T>(value: T): Asked<T> => ({ is: 'answered', value });
export const notAsked = (why: string): Asked<never> => ({ is: 'not-asked', why });

/** Whether a question was refused for a missing right, as the API words it: another silence is not ended by a right. */
export function isForbidden(asked: Asked<unknown>): boolean {
  return asked.is === 'unanswered' && /forbidden|cannot list/i.test(asked.why);
}

export function ok(check: Check, summary: string): Finding {
  return { check, level: 'ok', summary };
}

export function skipped(check: Check, summary: string, remedy?: string): Finding {
  return { check, level: 'skipped', summary, ...(remedy !== undefined && { remedy }) };
}

export function warning(check: Check, summary: string, remedy: string): Finding {
  return { check, level: 'warning', summary, remedy };
}

export function failure(check: Check, summary: string, remedy: string): Finding {
  return { check, level: 'failure', summary, remedy };
}

/** A check that found no trouble says so once. */
export function orElse(troubles: readonly Finding[], calm: Finding): readonly Finding[] {
  return troubles.length > 0 ? troubles : [calm];
}

export function diagnosisOf(findings: readonly Finding[]): Diagnosis {
  const levels = new Set(findings.map(({ level }) => level));
  const result = levels.has('failure') ? 'failure' : levels.has('warning') ? 'warning' : 'ok';
  return { result, findings };
}

/** `a, b and 3 more`: limits the names, so that the line can still be read. */
export function someOf(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length <= most ? shown : `${shown} and ${names.length - most} more`;
}

import { z } from 'zod';
import { parseDuration, renderDuration } from '@rollkeeper/machinery/clock';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import type { ComparisonRules } from './compare-samples.js';
import { CONFIDENCES, LEAST_SAMPLES, MOST_SAMPLES } from './compare-samples.js';
import { parseCondition } from './condition.js';
import { VARIABLE_NAMES, unknownVariable } from './query-variables.js';

/** A request that takes longer would keep a worker from other Deployments. */
const LONGEST_TIMEOUT_MS = 10_000;
const LONGEST_QUERY = 4096;
const LONGEST_URL = 2048;
const LONGEST_HEADER = 4096;
const MOST_HEADERS = 20;
/** The longest time that a measurement looks back. */
const LONGEST_WINDOW_MS = 24 * 3_600_000;
/** The longest time whose samples are compared. */
const LONGEST_COMPARED_MS = 2 * 3_600_000;

/** A duration such as `5m`, in milliseconds. */
export const durationBetween = (leastMs: number, mostMs: number) =>
  z.string({ error: 'is not a duration such as 30s, 5m or 1h' }).transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= leastMs && ms <= mostMs) return ms;
    const range = `between ${renderDuration(leastMs)} and ${renderDuration(mostMs)}`;
    context.addIssue({ code: 'custom', message: `"${text}" is not a duration ${range}` });
    return z.NEVER;
  });

/** The URL of a request, with all that belongs to it. */
export const httpUrl = z
  .string({ error: 'is not a URL' })
  .trim()
  .max(LONGEST_URL)
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** The URL of a server, without a slash at its end. */
export const address = httpUrl
  .refine((text) => !/[?#]/.test(text), { error: 'has a query of its own' })
  .transform((text) => withoutTrailing(text, '/'));

const condition = z.string({ error: 'is not a condition such as "< 0.01"' }).transform((text, context) => {
  const parsed = parseCondition(text);
  if (parsed) return parsed;
  context.addIssue({ code: 'custom', message: `"${text}" is not a condition such as "< 0.01" or ">= 99.5"` });
  return z.NEVER;
});

/** A text with variables. */
export const query = textWithVariables(LONGEST_QUERY);

/** {@link httpUrl} with variables, in its path and its query alone. */
export const urlWithVariables = textWithVariables(LONGEST_URL).superRefine((text, context) => {
  const problem = urlProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

function textWithVariables(longest: number) {
  return z
    .string({ error: 'is not a text' })
    .min(1, { error: 'is empty' })
    .max(longest)
    .superRefine((text, context) => {
      if (!text.isWellFormed())
        context.addIssue({ code: 'custom', message: 'has half of a character, which cannot be sent' });
      const unknown = unknownVariable(text);
      if (unknown === undefined) return;
      const message = `{{${unknown}}} is not one of ${VARIABLE_NAMES.join(', ')}`;
      context.addIssue({ code: 'custom', message });
    });
}

export const timeout = durationBetween(100, LONGEST_TIMEOUT_MS).default(5000);
/** The time before now whose values count. */
export const window = durationBetween(1000, LONGEST_WINDOW_MS).default(5 * 60_000);

/** The fields that every metric has. */
export const METRIC_FIELDS = { condition, timeout } as const;

const percentage = (most: number) =>
  z.string({ error: 'is not a percentage such as 25%' }).transform((text, context) => {
    const [, digits] = /^(\d{1,4}(?:\.\d{1,3})?)%$/.exec(text) ?? [];
    if (digits !== undefined && Number(digits) <= most) return Number(digits) / 100;
    context.addIssue({ code: 'custom', message: `"${text}" is not a percentage up to ${most}%` });
    return z.NEVER;
  });

const compare = z
  .strictObject({
    worse: z.enum(['increase', 'decrease', 'either'], {
      error: 'is neither increase, decrease nor either',
    }),
    tolerance: percentage(1000).default(0.25),
    confidence: z.enum(CONFIDENCES, { error: `is not one of ${CONFIDENCES.join(', ')}` }).default('98%'),
    window: durationBetween(60_000, LONGEST_COMPARED_MS).default(10 * 60_000),
    least: z.int().min(LEAST_SAMPLES).max(MOST_SAMPLES).default(10),
  })
  .transform(({ window: windowMs, ...rules }): ComparisonRules => ({ ...rules, windowMs }));

/** The fields of a metric that knows its past, and so can be compared with the stable version. */
export const COMPARABLE_FIELDS = {
  condition: condition.optional(),
  compare: compare.optional(),
  timeout,
} as const;

/** Adds an issue unless there is either a condition or a comparison. */
export function oneJudgement(
  read: { readonly condition?: unknown; readonly compare?: unknown },
  context: z.RefinementCtx,
): void {
  if ((read.condition === undefined) !== (read.compare === undefined)) return;
  context.addIssue({ code: 'custom', message: 'needs either condition or compare' });
}

/** The name of a Secret. */
export const secretName = z
  .string({ error: 'is not the name of a Secret' })
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, { error: 'is not the name of a Secret' });

const secretKey = z
  .string({ error: 'is not a key of a Secret' })
  .regex(/^[-._a-zA-Z0-9]{1,253}$/, { error: 'is not a key of a Secret' });

const headerText = z
  .string({ error: 'is neither a text nor a key of a Secret' })
  .max(LONGEST_HEADER)
  .regex(/^[\t\x20-\x7e]*$/, { error: 'has characters that no header may have' });

const HEADER_NAME = /^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,100}$/;

/** Headers by which a request could become two, or go to another host than the one that was compared. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A header's value: a text, or what a Secret has. */
export type HeaderValue =
  string | { readonly secret: string; readonly key: string; readonly prefix?: string };

/** Headers of a request, such as `authorization: { secret: grafana, key: token, prefix: "Bearer " }`. */
export const headers = z
  .record(
    z.string(),
    z.union([
      headerText,
      z.strictObject({ secret: secretName, key: secretKey, prefix: headerText.optional() }),
    ]),
  )
  .superRefine((fields, context) => {
    const names = Object.keys(fields);
    if (names.length > MOST_HEADERS)
      context.addIssue({ code: 'custom', message: `are more than ${MOST_HEADERS}` });
    for (const name of names) {
      const problem = headerProblem(name);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
    }
  })
  .default({});

function headerProblem(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'is not the name of a header';
  return CONNECTION_HEADERS.has(name.toLowerCase()) ? 'belongs to the connection' : undefined;
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  // A path that is appended to such a URL would not be at its end.
  if (/^[\s\p{Cc}]|[\s\p{Cc}]$/u.test(text)) return 'begins or ends with white space';
  const { hash, host, password, protocol, username } = new URL(text);
  if (host.includes('{')) return 'has a variable in its host';
  if (protocol !== 'http:' && protocol !== 'https:') return 'is neither an http nor an https URL';
  if (username !== '' || password !== '') return 'has a user or a password, which is not supported';
  return hash === '' ? undefined : 'has a fragment';
}

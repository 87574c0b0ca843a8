import { z } from 'zod';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { parseShortYaml } from '@rollkeeper/machinery/text';
import type { JobTemplateSpec } from '@rollkeeper/machinery/types/batch-v1';
import { durationBetween, httpUrl, timeout } from './common/definition-fields.js';
import type { Metric } from './sources/metric.js';
import type { MetricKind } from './sources/metric-sources.js';
import { METRIC_KINDS, METRIC_SOURCES } from './sources/metric-sources.js';

/** How often a check is measured, and what its measurements come to. */
export interface CheckRules {
  readonly intervalMs: number;
  /** The number of measurements that make up the verdict; some of them may fail. */
  readonly count: number;
  /** More failed ones of the last {@link count} fail the check. */
  readonly failureLimit: number;
  /** Whether a measurement without a verdict counts as a failed one. */
  readonly unknown: 'hold' | 'fail';
  /** Timeout after which a check without a verdict fails, milliseconds. @default never */
  readonly giveUpAfterMs?: number;
  /** `observe`: it is measured and told, and holds nothing. */
  readonly mode: 'enforce' | 'observe';
}

export interface MetricCheck extends CheckRules {
  readonly kind: MetricKind;
  readonly metric: Metric;
}

export interface WebhookCheck extends CheckRules {
  readonly kind: 'webhook';
  readonly url: string;
  readonly timeoutMs: number;
  /** The status codes of answers that are a success. */
  readonly expect: readonly StatusRange[];
  /** The number of further requests if there is no answer, or one that may change later. */
  readonly retries: number;
}

export interface JobCheck extends CheckRules {
  readonly kind: 'job';
  readonly template: JobTemplateSpec;
  /** How long the Job may take, milliseconds. */
  readonly deadlineMs: number;
}

export type CheckDefinition = MetricCheck | WebhookCheck | JobCheck;
export type CheckKind = CheckDefinition['kind'];

export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

export type ParsedCheck = { readonly check: CheckDefinition } | { readonly problem: string };

const SHORTEST_INTERVAL_MS = 1000;
const LONGEST_DEADLINE_MS = 24 * 3_600_000;
/** Characters of a definition: it is read at each sync that its check takes part in. */
const LONGEST_TEXT = 16 * 1024;
const MOST_MEASUREMENTS = 50;
const MOST_RETRIES = 20;
/** A finished Job that is deleted at once is one that cannot be looked at. */
const SHORTEST_TTL_SECONDS = 300;

const statusRange = z.union([z.int().min(100).max(599), z.string()]).transform((value, context) => {
  const [, from, to] = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/.exec(String(value)) ?? [];
  if (from !== undefined && Number(to ?? from) >= Number(from))
    return { from: Number(from), to: Number(to ?? from) };
  context.addIssue({ code: 'custom', message: `"${value}" is neither a status nor a range such as 200-299` });
  return z.NEVER;
});

const jobTemplate = z
  .custom<JobTemplateSpec>((value) => isJsonObject(value), { error: 'is not a template of a Job' })
  .superRefine((template, context) => {
    const problem = templateProblem(template);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

const metrics = {
  prometheus: METRIC_SOURCES.prometheus.optional(),
  gateway: METRIC_SOURCES.gateway.optional(),
  web: METRIC_SOURCES.web.optional(),
  datadog: METRIC_SOURCES.datadog.optional(),
  'new-relic': METRIC_SOURCES['new-relic'].optional(),
  cloudwatch: METRIC_SOURCES.cloudwatch.optional(),
  influxdb: METRIC_SOURCES.influxdb.optional(),
  graphite: METRIC_SOURCES.graphite.optional(),
  'google-cloud-monitoring': METRIC_SOURCES['google-cloud-monitoring'].optional(),
};

const schema = z
  .strictObject({
    ...metrics,
    webhook: z
      .strictObject({
        url: httpUrl,
        timeout,
        retries: z.int().min(0).max(MOST_RETRIES).default(3),
        expect: z
          .union([statusRange.transform((range) => [range]), z.array(statusRange).min(1).max(20)])
          .default([{ from: 200, to: 299 }]),
      })
      .optional(),
    job: z
      .strictObject({
        template: jobTemplate,
        deadline: durationBetween(SHORTEST_INTERVAL_MS, LONGEST_DEADLINE_MS).default(10 * 60_000),
      })
      .optional(),
    interval: durationBetween(SHORTEST_INTERVAL_MS, 24 * 3_600_000).optional(),
    count: z.int().min(1).max(MOST_MEASUREMENTS).default(1),
    'failure-limit': z.int().min(0).max(MOST_MEASUREMENTS).default(0),
    unknown: z.enum(['hold', 'fail']).default('hold'),
    'give-up-after': durationBetween(SHORTEST_INTERVAL_MS, 30 * 86_400_000).optional(),
    mode: z.enum(['enforce', 'observe']).default('enforce'),
  })
  .superRefine((read, context) => {
    const kinds = KINDS.filter((kind) => read[kind] !== undefined);
    if (kinds.length !== 1) {
      const message = `needs one of ${KINDS.join(', ')}, and has ${kinds.join(' and ') || 'none'}`;
      context.addIssue({ code: 'custom', message });
    }
    if (read['failure-limit'] >= read.count)
      context.addIssue({
        code: 'custom',
        path: ['failure-limit'],
        message: 'is not below count: it could not fail',
      });
    if (read.job && read.count > 1)
      context.addIssue({ code: 'custom', path: ['count'], message: 'is 1 for a Job, which runs once' });
  });

const KINDS = [...METRIC_KINDS, 'webhook', 'job'] as const;
const METRIC_INTERVAL_MS = 30_000;
const DEFAULT_INTERVALS_MS: Readonly<Partial<Record<CheckKind, number>>> = { webhook: 60_000, job: 5000 };

/** A check, as the text of a ConfigMap defines it: YAML or JSON. */
export function parseCheck(text: string): ParsedCheck {
  if (text.length > LONGEST_TEXT) return { problem: `has more than ${LONGEST_TEXT} characters` };
  let value: unknown;
  try {
    value = parseShortYaml(text, LONGEST_TEXT);
  } catch (error) {
    return { problem: `is neither YAML nor JSON: ${errorMessage(error)}` };
  }
  if (!isJsonObject(value)) return { problem: 'is no object' };
  const parsed = schema.safeParse(value);
  return parsed.success ? { check: checkOf(parsed.data) } : { problem: renderIssue(parsed.error) };
}

function checkOf(read: z.infer<typeof schema>): CheckDefinition {
  const kind = KINDS.find((each) => read[each] !== undefined) ?? 'job';
  const rules: CheckRules = {
    intervalMs: read.interval ?? DEFAULT_INTERVALS_MS[kind] ?? METRIC_INTERVAL_MS,
    count: read.count,
    failureLimit: read['failure-limit'],
    unknown: read.unknown,
    giveUpAfterMs: read['give-up-after'],
    mode: read.mode,
  };
  const source = METRIC_KINDS.find((each) => each === kind);
  const metric = source && read[source];
  if (metric) return { kind: source, ...rules, metric };
  if (read.webhook) {
    const { timeout: timeoutMs, ...rest } = read.webhook;
    return { kind: 'webhook', ...rules, ...rest, timeoutMs };
  }
  const { deadline = 0, template = {} } = read.job ?? {};
  return { kind: 'job', ...rules, template, deadlineMs: deadline };
}

/** Names the field: `prometheus.condition: "0.01" is not a condition`. */
function renderIssue({ issues: [issue] }: z.ZodError): string {
  const path = (issue?.path ?? []).map(String).join('.');
  const message = issue?.message ?? 'is not valid';
  return path === '' ? message : `${path}: ${message}`;
}

function templateProblem(template: JobTemplateSpec): string | undefined {
  if (!isJsonObject(template.spec)) return 'has no spec';
  const { template: pods, ttlSecondsAfterFinished } = template.spec;
  if (!isJsonObject(pods) || !isJsonObject(pods.spec)) return 'has no spec.template.spec';
  if (ttlSecondsAfterFinished !== undefined && ttlSecondsAfterFinished < SHORTEST_TTL_SECONDS)
    return `has spec.ttlSecondsAfterFinished below ${SHORTEST_TTL_SECONDS}: its result could be missed`;
  return undefined;
}

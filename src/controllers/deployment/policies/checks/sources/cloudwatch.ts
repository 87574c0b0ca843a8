import { z } from 'zod';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { METRIC_FIELDS, address, secretName, window } from '../common/definition-fields.js';
import type { IncomingAnswer } from '../common/http-sender.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { asWord, fillQuery, unknownVariable } from '../common/query-variables.js';
import type { CheckSubject } from '../common/subject.js';
import type { AwsCredentials } from './aws-signature.js';
import { signedHeaders } from './aws-signature.js';
import type { Asking, Metric } from './metric.js';
import { jsonOf, listAt, numberOf, parsedAnyway, valueAt, wordOf } from './read-json.js';

const MOST_QUERIES = 20;
/** How deep a MetricDataQuery is, with a level to spare. */
const DEEPEST = 6;

const region = z.string().regex(/^[a-z0-9-]{1,40}$/, { error: 'is not a region such as eu-central-1' });

const queries = z
  .array(z.custom<Readonly<Record<string, unknown>>>(isJsonObject, { error: 'is not a MetricDataQuery' }))
  .min(1)
  .max(MOST_QUERIES)
  .superRefine((list, context) => {
    const unknown = textsIn(list)
      .map(unknownVariable)
      .find((each) => each !== undefined);
    if (unknown !== undefined)
      context.addIssue({ code: 'custom', message: `{{${unknown}}} is not one of the variables` });
  });

/**
 * GetMetricData, of which the newest value of each result counts. `queries` is its MetricDataQueries as AWS documents
 * them. The Secret has `access-key-id` and `secret-access-key`, and `session-token` with temporary credentials.
 * Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
 */
export const cloudwatch = z
  .strictObject({
    region,
    /** In place of the region's, for a VPC endpoint. */
    address: address.optional(),
    queries,
    temporary: z.boolean().default(false),
    secret: secretName,
    window,
    ...METRIC_FIELDS,
  })
  .transform((read): Metric => {
    const base = read.address ?? `https://monitoring.${read.region}.amazonaws.com`;
    return {
      ...{ title: 'CloudWatch', condition: read.condition, timeoutMs: read.timeout, urls: [base] },
      async valuesOf(asking) {
        const url = `${base}/`;
        const end = Math.floor(asking.nowMs / 1000);
        const body = stringifyJson({
          StartTime: end - Math.ceil(read.window / 1000),
          EndTime: end,
          ScanBy: 'TimestampDescending',
          MetricDataQueries: filled(read.queries, asking.subject),
        });
        const named = {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'GraniteServiceVersion20100801.GetMetricData',
        };
        const headers = signedHeaders(
          { method: 'POST', url, headers: named, body },
          await credentialsOf(read, url, asking),
          { nowMs: asking.nowMs, region: read.region, service: 'monitoring' },
        );
        return valuesOfResults(await asking.send({ method: 'POST', url, headers, body }));
      },
    };
  });

async function credentialsOf(
  { secret: name, temporary }: { readonly secret: string; readonly temporary: boolean },
  url: string,
  { secret }: Asking,
): Promise<AwsCredentials> {
  const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
    secret(name, 'access-key-id', url),
    secret(name, 'secret-access-key', url),
    temporary ? secret(name, 'session-token', url) : undefined,
  ]);
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

function valuesOfResults(answer: IncomingAnswer): readonly number[] {
  if (answer.status !== 200) {
    // `com.amazonaws.cloudwatch#InvalidParameterValue`
    const type = valueAt(parsedAnyway(answer), '__type');
    const word = typeof type === 'string' ? wordOf(type.split('#').at(-1)) : '';
    throw new NoAnswerError(`answered ${answer.status}${word}`);
  }
  return listAt(jsonOf(answer), 'MetricDataResults').flatMap((result) => {
    const code = valueAt(result, 'StatusCode');
    if (code === 'Forbidden' || code === 'InternalError')
      throw new NoAnswerError(`a result has${wordOf(code)}`);
    const newest = valueAt(result, 'Values', 0);
    return newest === undefined ? [] : [numberOf(newest)];
  });
}

/** The same value, with the variables of its texts filled in. */
function filled(value: unknown, subject: CheckSubject, depth = 0): unknown {
  if (typeof value === 'string') return fillQuery(value, subject, asWord);
  if (depth > DEEPEST) throw new NoAnswerError('queries is deeper than a MetricDataQuery');
  if (Array.isArray(value)) return value.map((each) => filled(each, subject, depth + 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, filled(each, subject, depth + 1)]),
  );
}

function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value];
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => textsIn(each, depth + 1));
}

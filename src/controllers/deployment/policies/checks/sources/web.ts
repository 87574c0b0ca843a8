import { z } from 'zod';
import { compileJsonPath } from '@rollkeeper/machinery/kubernetes';
import { METRIC_FIELDS, headers, query, urlWithVariables } from '../common/definition-fields.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { fillQuery, inJson, inUrl } from '../common/query-variables.js';
import type { Metric } from './metric.js';
import { filledHeaders } from './metric.js';
import { jsonOf, numberOf } from './read-json.js';

const LONGEST_PATH = 500;

/** A path such as `$.data.rate`, or `{.data.rate}` as kubectl writes it. */
const jsonPath = z
  .string({ error: 'is not a path such as $.data.rate' })
  .max(LONGEST_PATH)
  .transform((text, context) => {
    const [, inBraces = text] = /^\{(.*)\}$/.exec(text) ?? [];
    const read = compileJsonPath(inBraces.replace(/^\$/, ''));
    if (read) return read;
    context.addIssue({ code: 'custom', message: `"${text}" is not a path such as $.data.rate` });
    return z.NEVER;
  });

/** Numbers of any JSON over HTTP. */
export const web = z
  .strictObject({
    url: urlWithVariables,
    method: z.enum(['GET', 'POST']).default('GET'),
    headers,
    body: query.optional(),
    'json-path': jsonPath.default(() => (value: unknown) => [value]),
    ...METRIC_FIELDS,
  })
  .refine(({ body, method }) => body === undefined || method === 'POST', {
    path: ['body'],
    error: 'needs method: POST',
  })
  .transform((read): Metric => ({
    ...{ title: 'the web check', condition: read.condition, timeoutMs: read.timeout, urls: [read.url] },
    async valuesOf(asking) {
      const url = fillQuery(read.url, asking.subject, inUrl);
      const body = read.body === undefined ? undefined : fillQuery(read.body, asking.subject, inJson);
      const own = await filledHeaders(read.headers, url, asking);
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const answer = await asking.send({ method: read.method, url, headers: { ...type, ...own }, body });
      const values = read['json-path'](jsonOf(answer));
      if (values.length === 0) throw new NoAnswerError('the answer has nothing at json-path');
      return values.map((value) => (typeof value === 'boolean' ? Number(value) : numberOf(value)));
    },
  }));

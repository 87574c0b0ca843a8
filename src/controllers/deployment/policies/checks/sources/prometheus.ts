import { z } from 'zod';
import { METRIC_FIELDS, address, headers, query } from '../definition-fields.js';
import type { IncomingAnswer } from '../http-sender.js';
import { NoAnswerError } from '../no-answer-error.js';
import { fillQuery } from '../query-variables.js';
import type { Metric } from './metric.js';
import { filledHeaders } from './metric.js';
import { parsedAnyway, valueAt, wordOf } from './read-json.js';

/** An instant query of Prometheus, or of anything with its HTTP API. */
export const prometheus = z
  .strictObject({ address, query, headers, ...METRIC_FIELDS })
  .transform((read): Metric => ({
    ...{ title: 'Prometheus', condition: read.condition, timeoutMs: read.timeout, urls: [read.address] },
    async valuesOf(asking) {
      const filled = encodeURIComponent(fillQuery(read.query, asking.subject));
      const url = `${read.address}/api/v1/query?query=${filled}`;
      const own = await filledHeaders(read.headers, url, asking);
      return valuesOfPrometheus(await asking.send({ method: 'GET', url, headers: own }));
    },
  }));

/**
 * The values of an instant query.
 * Source: https://prometheus.io/docs/prometheus/latest/querying/api/
 */
export function valuesOfPrometheus(answer: IncomingAnswer): readonly number[] {
  const { status } = answer;
  const read = parsedAnyway(answer);
  if (status !== 200 || valueAt(read, 'status') !== 'success')
    throw new NoAnswerError(`answered ${status}${wordOf(valueAt(read, 'errorType'))}`);
  const result = valueAt(read, 'data', 'result');
  const type = valueAt(read, 'data', 'resultType');
  if (type === 'scalar') return [sampleOf(result)];
  if (type !== 'vector' || !Array.isArray(result))
    throw new NoAnswerError('the query is neither a scalar nor an instant vector');
  return result.map((series) => sampleOf(valueAt(series, 'value')));
}

/** `[ 1714557600.123, "0.02" ]` */
function sampleOf(sample: unknown): number {
  const text = valueAt(sample, 1);
  if (typeof text !== 'string') return NaN;
  const infinity = INFINITIES[text];
  return infinity ?? (text.trim() === '' ? NaN : Number(text));
}

const INFINITIES: Readonly<Record<string, number>> = { '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity };

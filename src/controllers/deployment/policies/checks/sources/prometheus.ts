import { z } from 'zod';
import { COMPARABLE_FIELDS, address, headers, oneJudgement, query } from '../common/definition-fields.js';
import type { IncomingAnswer } from '../common/http-sender.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { fillQuery } from '../common/query-variables.js';
import type { Asking, Metric } from './metric.js';
import { filledHeaders, metricOf } from './metric.js';
import { listAt, parsedAnyway, valueAt, wordOf } from './read-json.js';

/** The number of steps of a compared time: each is a sample of each series. */
const STEPS = 60;

/** A query of Prometheus, or of anything with its HTTP API: instant, or over a time where it is compared. */
export const prometheus = z
  .strictObject({ address, query, headers, ...COMPARABLE_FIELDS })
  .superRefine(oneJudgement)
  .transform((read): Metric => {
    const ask = async (path: string, asking: Asking): Promise<IncomingAnswer> => {
      const url = `${read.address}/api/v1/${path}`;
      const own = await filledHeaders(read.headers, url, asking);
      return asking.send({ method: 'GET', url, headers: own });
    };
    return metricOf({ title: 'Prometheus', timeoutMs: read.timeout, urls: [read.address] }, read, {
      valuesOf: async (asking) =>
        valuesOfPrometheus(await ask(instantQuery(fillQuery(read.query, asking.subject)), asking)),
      samplesOf: async (asking) => {
        const { windowMs = 0 } = read.compare ?? {};
        const filled = fillQuery(read.query, asking.subject);
        return samplesOfPrometheus(await ask(rangeQuery(filled, asking.nowMs, windowMs), asking));
      },
    });
  });

/** The path and the parameters of an instant query. */
export function instantQuery(query: string): string {
  return `query?query=${encodeURIComponent(query)}`;
}

/** The path and the parameters of a range query over the time before now. */
export function rangeQuery(query: string, nowMs: number, windowMs: number): string {
  const parameters = new URLSearchParams({
    query,
    start: String((nowMs - windowMs) / 1000),
    end: String(nowMs / 1000),
    step: String(windowMs / STEPS / 1000),
  });
  return `query_range?${parameters.toString()}`;
}

/**
 * The values of an instant query.
 * Source: https://prometheus.io/docs/prometheus/latest/querying/api/
 */
export function valuesOfPrometheus(answer: IncomingAnswer): readonly number[] {
  const { result, type } = resultOf(answer);
  if (type === 'scalar') return [sampleOf(result)];
  if (type !== 'vector' || !Array.isArray(result))
    throw new NoAnswerError('the query is neither a scalar nor an instant vector');
  return result.map((series) => sampleOf(valueAt(series, 'value')));
}

/** The samples of all series of a range query. */
export function samplesOfPrometheus(answer: IncomingAnswer): readonly number[] {
  const { result, type } = resultOf(answer);
  if (type !== 'matrix') throw new NoAnswerError('the query has no series over time');
  return listAt(result).flatMap((series) => listAt(series, 'values').map(sampleOf));
}

function resultOf(answer: IncomingAnswer): { readonly result: unknown; readonly type: unknown } {
  const { status } = answer;
  const read = parsedAnyway(answer);
  if (status !== 200 || valueAt(read, 'status') !== 'success')
    throw new NoAnswerError(`answered ${status}${wordOf(valueAt(read, 'errorType'))}`);
  return { result: valueAt(read, 'data', 'result'), type: valueAt(read, 'data', 'resultType') };
}

/** `[ 1714557600.123, "0.02" ]` */
function sampleOf(sample: unknown): number {
  const text = valueAt(sample, 1);
  if (typeof text !== 'string') return NaN;
  const infinity = INFINITIES[text];
  return infinity ?? (text.trim() === '' ? NaN : Number(text));
}

const INFINITIES: Readonly<Record<string, number>> = { '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity };

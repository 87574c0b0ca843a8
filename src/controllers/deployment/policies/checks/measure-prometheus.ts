import { isJsonObject, parseJson } from '@rollkeeper/machinery/kubernetes';
import type { Measured } from './add-measurement.js';
import type { PrometheusCheck } from './check-definition.js';
import { meets, renderCondition } from './condition.js';
import type { HttpSender, IncomingAnswer } from './http-sender.js';
import { NoAnswerError } from './http-sender.js';
import { fillQuery } from './query-variables.js';
import type { CheckSubject } from './subject.js';

/** Asks for the value of now. What is no number, or does not come, is unknown. */
export async function measurePrometheus(
  check: PrometheusCheck,
  subject: CheckSubject,
  { sender, signal }: { readonly sender: HttpSender; readonly signal: AbortSignal },
): Promise<Measured> {
  const url = `${check.address}/api/v1/query?query=${encodeURIComponent(fillQuery(check.query, subject))}`;
  try {
    const answer = await sender.send({ method: 'GET', url, timeoutMs: check.timeoutMs }, signal);
    return judge(check, answer);
  } catch (error) {
    if (error instanceof NoAnswerError)
      return { verdict: 'unknown', message: `Prometheus: ${error.message}` };
    throw error;
  }
}

function judge(check: PrometheusCheck, answer: IncomingAnswer): Measured {
  const read = readAnswer(answer);
  if (typeof read === 'string') return { verdict: 'unknown', message: read };
  if (read.length === 0) return { verdict: 'unknown', message: 'the query found no series' };
  const [first = NaN] = read;
  if (read.some(Number.isNaN)) return { verdict: 'unknown', message: 'the value is NaN' };
  // Each of several series has to meet the condition.
  const wrong = read.find((value) => !meets(value, check.condition));
  if (wrong === undefined) return { verdict: 'passed', ...valueOf(first) };
  return {
    verdict: 'failed',
    ...valueOf(wrong),
    message: `${wrong} is not ${renderCondition(check.condition)}`,
  };
}

/** JSON has no infinity. */
function valueOf(value: number): { readonly value?: number } {
  return Number.isFinite(value) ? { value } : {};
}

/** The values, or why there are none. */
function readAnswer({ body, status }: IncomingAnswer): readonly number[] | string {
  let read: unknown;
  try {
    read = parseJson(body);
  } catch {
    return `Prometheus answered ${status}, and no JSON`;
  }
  if (!isJsonObject(read)) return `Prometheus answered ${status}, and no object`;
  const { data, errorType } = read;
  if (status !== 200 || read['status'] !== 'success')
    return `Prometheus answered ${status}${isWord(errorType) ? ` (${errorType})` : ''}`;
  if (!isJsonObject(data)) return 'Prometheus answered without data';
  const { result, resultType } = data;
  if (resultType === 'scalar') return [sampleOf(result)];
  if (resultType !== 'vector' || !Array.isArray(result))
    return 'the query is neither a scalar nor an instant vector';
  return result.map((series) => sampleOf(isJsonObject(series) ? series['value'] : undefined));
}

/** `[ 1714557600.123, "0.02" ]` */
function sampleOf(sample: unknown): number {
  const text: unknown = Array.isArray(sample) ? sample[1] : undefined;
  if (typeof text !== 'string') return NaN;
  const infinity = INFINITIES[text];
  return infinity ?? (text.trim() === '' ? NaN : Number(text));
}

const INFINITIES: Readonly<Record<string, number>> = { '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity };

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value);
}

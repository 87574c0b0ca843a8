import type { Clock } from '@rollkeeper/machinery/clock';
import type { Measured } from './common/check-verdict.js';
import type { CheckSecrets } from './check-secrets.js';
import { compareSamples } from './common/compare-samples.js';
import { meets, renderCondition } from './common/condition.js';
import type { HttpSender } from './common/http-sender.js';
import { NoAnswerError } from './common/no-answer-error.js';
import type { Asking, Comparison, Metric, Threshold } from './sources/metric.js';
import type { CheckSubject } from './common/subject.js';

export interface MetricParts {
  readonly sender: HttpSender;
  readonly secrets: CheckSecrets;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
}

/** Asks for the values. What is no number, or does not come, is unknown. */
export async function measureMetric(
  metric: Metric,
  subject: CheckSubject,
  { clock, secrets, sender, signal }: MetricParts,
): Promise<Measured> {
  const { timeoutMs, title } = metric;
  const asking: Asking = {
    subject,
    nowMs: clock.now(),
    send: (request) => sender.send({ ...request, timeoutMs }, signal),
    secret: (name, key, url) => secrets.read({ namespace: subject.namespace, name, key, url }, signal),
  };
  try {
    if ('comparison' in metric) return await compare(metric, asking);
    return judge(metric, await metric.valuesOf(asking));
  } catch (error) {
    if (error instanceof NoAnswerError) return { verdict: 'unknown', message: `${title}: ${error.message}` };
    throw error;
  }
}

/** Both versions at once, over the same time. */
async function compare(metric: Comparison, asking: Asking): Promise<Measured> {
  const { subject } = asking;
  if (!subject.stable) return { verdict: 'unknown', message: 'there is no other version to compare with' };
  const [canary, stable] = await Promise.all([
    metric.samplesOf(asking),
    metric.samplesOf({ ...asking, subject: { ...subject, service: undefined, ...subject.stable } }),
  ]);
  return compareSamples(canary, stable, metric.comparison);
}

function judge({ condition, title }: Threshold, values: readonly number[]): Measured {
  const [first] = values;
  if (first === undefined) return { verdict: 'unknown', message: `${title}: the query found no series` };
  if (values.some(Number.isNaN)) return { verdict: 'unknown', message: `${title}: the value is NaN` };
  // Each of several series has to meet the condition.
  const wrong = values.find((value) => !meets(value, condition));
  if (wrong === undefined) return { verdict: 'passed', ...valueOf(first) };
  return { verdict: 'failed', ...valueOf(wrong), message: `${wrong} is not ${renderCondition(condition)}` };
}

/** JSON has no infinity. */
function valueOf(value: number): { readonly value?: number } {
  return Number.isFinite(value) ? { value } : {};
}

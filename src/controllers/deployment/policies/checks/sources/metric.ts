import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { ComparisonRules } from '../common/compare-samples.js';
import type { Condition } from '../common/condition.js';
import type { HeaderValue } from '../common/definition-fields.js';
import type { IncomingAnswer, OutgoingRequest } from '../common/http-sender.js';
import type { CheckSubject } from '../common/subject.js';

/** The source of a check's numbers, and what is asked of them. */
export type Metric = Threshold | Comparison;

interface MetricBase {
  /** The name of the source in messages. */
  readonly title: string;
  /** How long each of its requests may take, milliseconds. */
  readonly timeoutMs: number;
  /** Its requests go there, so the hosts of these have to be allowed. */
  readonly urls: readonly string[];
}

/** A number that has to meet a condition. */
export interface Threshold extends MetricBase {
  /** The condition that each of the values has to meet. */
  readonly condition: Condition;
  /**
   * The values of now, one for each series.
   * @throws NoAnswerError if there is none, with the reason
   */
  readonly valuesOf: (asking: Asking) => Promise<readonly number[]>;
}

/** Numbers over a time, of the new version beside those of the stable one. */
export interface Comparison extends MetricBase {
  readonly comparison: ComparisonRules;
  /**
   * The samples of the version that is the subject, of all series.
   * @throws NoAnswerError if there is no answer, with the reason
   */
  readonly samplesOf: (asking: Asking) => Promise<readonly number[]>;
}

/** One of the two is there: a {@link Threshold} has a condition, a {@link Comparison} has rules. */
interface Judgement {
  readonly condition?: Condition;
  readonly compare?: ComparisonRules;
}

/** The metric that a definition asks for. */
export function metricOf(
  base: MetricBase,
  { compare, condition }: Judgement,
  ask: Pick<Threshold, 'valuesOf'> & Pick<Comparison, 'samplesOf'>,
): Metric {
  if (compare) return { ...base, comparison: compare, samplesOf: ask.samplesOf };
  if (condition) return { ...base, condition, valuesOf: ask.valuesOf };
  throw new IllegalStateError('a metric has neither a condition nor a comparison');
}

/** A metric may use these for one measurement. */
export interface Asking {
  readonly subject: CheckSubject;
  readonly nowMs: number;
  /** @throws NoAnswerError if there is no answer in time */
  readonly send: (request: Omit<OutgoingRequest, 'timeoutMs'>) => Promise<IncomingAnswer>;
  /**
   * The value of a Secret of the Deployment's namespace.
   * @param url where a request with it goes; the Secret itself has to allow that host
   * @throws NoAnswerError if it may not be read or sent there, or has no such key
   */
  readonly secret: (name: string, key: string, url: string) => Promise<string>;
}

/** Headers with the values that Secrets have. */
export async function filledHeaders(
  headers: Readonly<Record<string, HeaderValue>>,
  url: string,
  { secret }: Pick<Asking, 'secret'>,
): Promise<Readonly<Record<string, string>>> {
  const filled = await Promise.all(
    Object.entries(headers).map(async ([name, value]): Promise<[string, string]> => {
      if (typeof value === 'string') return [name, value];
      return [name, `${value.prefix ?? ''}${await secret(value.secret, value.key, url)}`];
    }),
  );
  return Object.fromEntries(filled);
}

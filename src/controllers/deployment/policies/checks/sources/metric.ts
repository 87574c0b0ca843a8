import type { Condition } from '../condition.js';
import type { HeaderValue } from '../definition-fields.js';
import type { IncomingAnswer, OutgoingRequest } from '../http-sender.js';
import type { CheckSubject } from '../subject.js';

/** A number that a check compares, and where it comes from. */
export interface Metric {
  /** The name of the source in messages. */
  readonly title: string;
  /** The condition that each of the values has to meet. */
  readonly condition: Condition;
  /** How long each of its requests may take, milliseconds. */
  readonly timeoutMs: number;
  /** Where its requests go: the hosts of these have to be allowed. */
  readonly urls: readonly string[];
  /**
   * The values of now, one for each series.
   * @throws NoAnswerError if there is none, with the reason
   */
  valuesOf(asking: Asking): Promise<readonly number[]>;
}

/** What a metric may use for one measurement. */
export interface Asking {
  readonly subject: CheckSubject;
  readonly nowMs: number;
  /** @throws NoAnswerError if there is no answer in time */
  send(request: Omit<OutgoingRequest, 'timeoutMs'>): Promise<IncomingAnswer>;
  /**
   * The value of a Secret of the Deployment's namespace.
   * @param url where a request with it goes; the Secret itself has to allow that host
   * @throws NoAnswerError if it may not be read or sent there, or has no such key
   */
  secret(name: string, key: string, url: string): Promise<string>;
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

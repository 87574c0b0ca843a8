import type { CompiledHttpApiClientOptions } from './http-api-client.options.js';
import type { FailedAttempt } from './decide-retry.js';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { decideRetry } from './decide-retry.js';
import type { HttpRequest, HttpTransport, StreamingAnswer } from './http-transport.js';
import type { HttpAnswer } from './parse-response.js';
import { ApiConnectionError } from './transport-errors.js';
import { hasCode } from '@rollkeeper/machinery/errors';

export interface SendRequest extends Omit<HttpRequest, 'timeoutMs' | 'mayStart'> {
  readonly guard?: AbortSignal;
  readonly assertMayWrite?: () => void;
}

/** An answer, which may be an error status, or a transport error. */
type Attempt =
  | { readonly answered: true; readonly answer: HttpAnswer; readonly failure?: FailedAttempt }
  | { readonly answered: false; readonly error: unknown; readonly failure: FailedAttempt };

const EVICTION = /\/eviction(\?|$)/;

/** Sends requests with retries: {@link decideRetry} decides, this class acts. */
export class RetryingSender {
  private readonly closed = new AbortController();

  constructor(
    private readonly transport: HttpTransport,
    private readonly options: CompiledHttpApiClientOptions,
  ) {}

  /** From now on, nothing is retried: a request that waits for its next attempt is rejected. */
  close(): void {
    this.closed.abort(new ApiConnectionError('the client was closed'));
  }

  async send(request: SendRequest): Promise<HttpAnswer> {
    let authenticatedAgain = false;
    for (let attempts = 1; ; attempts++) {
      mayStart(request);
      const attempt = await this.attempt(request);
      if (attempt.answered && attempt.answer.status === 401 && !authenticatedAgain) {
        // Refused before anything was done, so a write may be retried as well.
        authenticatedAgain = true;
        if (this.options.connection.credentials.invalidate(attempt.answer.credentials)) continue;
      }
      const delayMs = this.delayBeforeNext(request, attempts, attempt.failure);
      if (delayMs !== undefined) await this.sleep(delayMs, request);
      else if (attempt.answered) return attempt.answer;
      else throw attempt.error;
    }
  }

  /** Starts an endless answer. Only retries refused credentials: a watch has a retry loop of its own. */
  async stream(request: HttpRequest): Promise<StreamingAnswer> {
    const answer = await this.transport.stream(request);
    const { credentials } = this.options.connection;
    if (answer.status !== 401 || !credentials.invalidate(answer.head.credentials)) return answer;
    answer.scope.abort(new Error('replaced by another attempt'));
    return this.transport.stream(request);
  }

  /** The delay before the next attempt; `undefined` after the last one. */
  private delayBeforeNext(
    { method, path }: SendRequest,
    attempts: number,
    failure: FailedAttempt | undefined,
  ): number | undefined {
    if (!failure || this.closed.signal.aborted) return undefined;
    const { random, retry, logger, metrics } = this.options;
    const request = { read: method === 'GET', isEviction: EVICTION.test(path) };
    const decision = decideRetry({ ...request, attempts, failure, chance: random.next() }, retry);
    if (!decision.retry) return undefined;
    const told =
      failure.type === 'status'
        ? { code: String(failure.code), retryAfterMs: failure.retryAfterMs }
        : { code: '<error>' };
    metrics.retry({ method, ...told });
    logger.debug('retrying the request', { method, path, attempts, failure, delayMs: decision.delayMs });
    return decision.delayMs;
  }

  /** Sleeps under both signals of a request and until the end; rejects with the reason of the first that aborts. */
  private async sleep(delayMs: number, { guard, signal }: SendRequest): Promise<void> {
    const any = [this.closed.signal, signal, guard].filter((each) => each !== undefined);
    const first = new LinkedAbort(...any);
    try {
      await this.options.clock.sleep(delayMs, first.signal);
    } finally {
      first.close();
    }
  }

  private async attempt(request: SendRequest): Promise<Attempt> {
    try {
      const timeoutMs = this.options.requestTimeoutMs;
      const answer = await this.transport.request({ ...request, timeoutMs, mayStart: startGuardOf(request) });
      return { answered: true, answer, failure: failureOf(answer) };
    } catch (error) {
      const failure = transportFailureOf(error);
      if (request.signal?.aborted || !failure) throw error;
      return { answered: false, error, failure };
    }
  }
}

function mayStart({ guard, assertMayWrite }: SendRequest): void {
  guard?.throwIfAborted();
  assertMayWrite?.();
}

function startGuardOf(request: SendRequest): (() => void) | undefined {
  return request.guard || request.assertMayWrite ? () => mayStart(request) : undefined;
}

/** Undefined if the transport is not the cause: the request was not allowed to start. */
function transportFailureOf(error: unknown): FailedAttempt | undefined {
  if (hasCode(error, 'TIMEOUT')) return { type: 'timeout' };
  return error instanceof ApiConnectionError ? { type: 'connection' } : undefined;
}

function failureOf(answer: HttpAnswer): FailedAttempt | undefined {
  if (answer.status < 400) return undefined;
  return { type: 'status', code: answer.status, retryAfterMs: answer.retryAfterMs };
}

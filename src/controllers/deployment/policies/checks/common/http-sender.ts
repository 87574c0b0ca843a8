import { Agent, request } from 'undici';
import { errorMessage, errorCode } from '@rollkeeper/machinery/errors';
import type { Clock } from '@rollkeeper/machinery/clock';
import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import { VERSION } from '@rollkeeper/machinery/version';
import type { Resolve } from './guarded-lookup.js';
import { guardedLookup } from './guarded-lookup.js';
import { NoAnswerError } from './no-answer-error.js';

export { NoAnswerError };

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

export interface IncomingAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request once. Rejects with {@link NoAnswerError} where there is no answer in time, with the signal's reason once it aborts. */
export interface HttpSender {
  send(request: OutgoingRequest, signal: AbortSignal): Promise<IncomingAnswer>;
}

/** The longest answer, bytes. */
const MOST_BYTES = 1024 * 1024;
const IDLE_MS = 10_000;

/**
 * Follows no redirect, and uses no proxy and no credentials of the process. Connects to no name that resolves to the machine
 * itself, or to where a cloud has its credentials.
 */
export class UndiciSender implements HttpSender {
  private readonly agent: Agent;

  /**
   * @param problemOf why no request may go to a URL
   * @param resolve @default the system's resolver
   */
  constructor(
    private readonly clock: Pick<Clock, 'setTimeout'>,
    private readonly problemOf: (url: string) => string | undefined,
    resolve?: Resolve,
  ) {
    const connect = { lookup: guardedLookup(resolve) };
    this.agent = new Agent({ connections: 8, pipelining: 1, keepAliveTimeout: IDLE_MS, connect });
  }

  async send(outgoing: OutgoingRequest, signal: AbortSignal): Promise<IncomingAnswer> {
    const problem = this.problemOf(outgoing.url);
    if (problem !== undefined) throw new NoAnswerError(problem);
    const linked = new LinkedAbort(signal);
    const late = new NoAnswerError(`no answer within ${outgoing.timeoutMs} ms`);
    const timer = this.clock.setTimeout(() => linked.abort(late), outgoing.timeoutMs);
    try {
      // A request whose connection is still being made notices no abort.
      return await abortable(this.exchange(outgoing, linked.signal), linked.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoAnswerError) throw error;
      throw new NoAnswerError(describeFailure(error), { cause: error });
    } finally {
      timer.cancel();
      linked.close();
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async exchange(outgoing: OutgoingRequest, signal: AbortSignal): Promise<IncomingAnswer> {
    const { body, headers, method, url } = outgoing;
    const response = await request(url, {
      method,
      headers: { 'user-agent': `rollkeeper/${VERSION}`, accept: 'application/json', ...headers },
      body,
      signal,
      dispatcher: this.agent,
    });
    return { status: response.statusCode, body: await readBounded(response.body) };
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new NoAnswerError(`the answer has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** By its code where there is one: a message of the system may name more than it should. */
function describeFailure(error: unknown): string {
  const code = errorCode(error);
  return typeof code === 'string' ? `no answer (${code})` : errorMessage(error);
}

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiServerOptions } from './api-server.options.js';
import { noApiServerMetrics } from './api-server-metrics.js';
import { assembleApi } from './assemble-api.js';
import type { AssembledApi } from './assemble-api.js';
import { ADMIN } from '../access/auth/index.js';
import { translateDocumentLimit } from '../http/decoding/index.js';
import { StatusError, internalError } from '../schema/errors/index.js';
import { ApiRequest, ByteBudget, compileServerLimits, rawOf, refusalOf } from '../http/index.js';
import type { ApiResponse, RawResponse, RequestHost } from '../http/index.js';
import { translateStoreFailure } from '../objects/registry/index.js';
import { inRequestSpan } from './request-span.js';

/** A request of an administrator, as a value. */
export interface DirectRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  readonly body?: string;
  /** Aborts when the client disconnects; ends a watch. */
  readonly signal: AbortSignal;
}

/** The answer to a {@link DirectRequest}: whole, or in pieces for as long as a watch goes on. */
export interface DirectAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string | Buffer>;
}

/**
 * The API of an {@link ApiServer} without its server: routing, admission, registry and storage are the same, and
 * requests and answers are values. For simulations, which have neither sockets nor threads. Every request is an
 * administrator's and is answered in JSON.
 */
export class DirectApi {
  private readonly api: AssembledApi;
  private readonly budget: ByteBudget<ApiRequest>;
  private readonly bodies: ByteBudget;

  constructor(options: Omit<ApiServerOptions, 'token' | 'tls' | 'port' | 'host'>) {
    const { clock } = options;
    const { maxAnswerBytes: limit, patienceMs, stallMs } = compileServerLimits(options.limits);
    this.budget = new ByteBudget<ApiRequest>({ limit, patienceMs, stallMs, clock });
    this.bodies = new ByteBudget({ limit, patienceMs, stallMs, clock });
    this.api = assembleApi(options, noApiServerMetrics, () => 'localhost');
  }

  /** Does what has to be done before the first request, and starts the background work, which runs until `signal` aborts. */
  prepare(signal: AbortSignal): Promise<void> {
    return this.api.prepare(signal);
  }

  /** Resolves once the background work has ended. */
  async ended(): Promise<void> {
    await this.api.ended();
    this.budget.stop();
    this.bodies.stop();
  }

  /** Never rejects: a refusal is an answer, too. */
  async answer(asked: DirectRequest): Promise<DirectAnswer> {
    try {
      const request = new ApiRequest(messageOf(asked), this.hostOf(asked));
      request.user = ADMIN;
      return answerOf(await inRequestSpan(request, () => this.api.router.route(request)));
    } catch (thrown) {
      return refused(thrown);
    }
  }

  private hostOf({ signal }: DirectRequest): RequestHost {
    return {
      makeSignal: () => signal,
      bodies: this.bodies,
      roomFor: () => this.budget,
      giveUp: () => undefined,
      onWaiting: () => undefined,
      onClose: (callback) => signal.addEventListener('abort', callback, { once: true }),
    };
  }
}

/** The parts of a message that a request reads. Its body is there at once. */
function messageOf({ body, headers, method, url }: DirectRequest): IncomingMessage {
  const message = {
    ...{ method, url, headers, complete: true },
    pause: () => undefined,
    resume: () => undefined,
    on(event: string, listener: (chunk?: Buffer) => void) {
      if (event === 'data' && body !== undefined) listener(Buffer.from(body));
      if (event === 'end') listener();
      return message;
    },
  };
  return message as unknown as IncomingMessage;
}

function answerOf(response: ApiResponse): DirectAnswer {
  if ('serve' in response) return refused(internalError('there are no connections to upgrade'));
  if ('stream' in response) {
    const { contentType, status, stream } = response;
    return { status, headers: { 'content-type': contentType }, body: stream };
  }
  response.room?.release();
  return whole('raw' in response ? response : rawOf(response, IN_JSON));
}

function refused(thrown: unknown): DirectAnswer {
  const error = translateDocumentLimit(translateStoreFailure(thrown));
  return whole(
    refusalOf(error instanceof StatusError ? error : internalError('a request failed', thrown), IN_JSON),
  );
}

const IN_JSON = { format: 'json' } as const;

function whole({ contentType, headers = {}, raw, status }: RawResponse): DirectAnswer {
  return { status, headers: { ...lowerCased(headers), 'content-type': contentType }, body: String(raw) };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value;
  return lower;
}

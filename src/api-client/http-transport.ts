import { createSecureContext } from 'node:tls';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock/index.js';
import { TimeoutError, errorMessage } from '../errors/index.js';
import { tellStatus, writeTraceHeaders } from '../trace-context/index.js';
import { AbortScope } from './abort-scope.js';
import type { MayStart } from './ask-before-start.js';
import { NotStartedError, askBeforeStart } from './ask-before-start.js';
import type { ApiClientMetrics } from './api-client-metrics.js';
import type { ClusterConnection } from './cluster-connection.js';
import type { HttpAnswer } from './parse-response.js';
import { ApiConnectionError } from './transport-errors.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest extends MayStart {
  readonly method: HttpMethod;
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** @default application/json */
  readonly accept?: string;
  /** The state that is known already, as its ETag: 304 says that it still holds. */
  readonly ifNoneMatch?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** An answer whose body is still coming. `scope` must be closed by who reads it. */
export interface StreamingAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array> & { text(): Promise<string> };
  readonly scope: AbortScope;
  /** Turns what reading `body` threw into the caller's reason or an {@link ApiConnectionError}. */
  readonly explain: (error: unknown) => unknown;
  readonly head: Omit<HttpAnswer, 'text'>;
}

export interface HttpTransportOptions {
  readonly connection: ClusterConnection;
  readonly userAgent: string;
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  /** @default none */
  readonly metrics?: ApiClientMetrics;
}

type ResponseHeaders = Dispatcher.ResponseData['headers'];

/**
 * HTTP/1.1 to one API server over undici. Watches have connections of their own, so that they never keep a request
 * waiting. Timeouts are ours (one deadline for a request, one for silence of a stream), on the injected clock.
 */
export class HttpTransport {
  private readonly requests: Dispatcher;
  private readonly streams: Dispatcher;

  private readonly origin: string;
  private readonly basePath: string;

  constructor(private readonly options: HttpTransportOptions) {
    const url = new URL(options.connection.serverUrl);
    this.origin = url.origin;
    this.basePath = url.pathname.replace(/\/+$/, '');
    this.requests = newAgent(options, options.maxSockets);
    this.streams = newAgent(options, null);
  }

  /**
   * One attempt. Rejects with the signal's reason, with what `mayStart` threw, {@link TimeoutError}, or
   * {@link ApiConnectionError}.
   */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    const answer = await this.start(this.requests, request);
    try {
      return { ...answer.head, text: await answer.body.text() };
    } catch (error) {
      throw answer.explain(error);
    } finally {
      answer.scope.close();
    }
  }

  /** Begins an answer without end; `timeoutMs` bounds its silence. */
  stream(request: HttpRequest): Promise<StreamingAnswer> {
    return this.start(this.streams, request);
  }

  async close(): Promise<void> {
    await Promise.all([this.requests.destroy(), this.streams.destroy()]);
  }

  private async start(agent: Dispatcher, request: HttpRequest): Promise<StreamingAnswer> {
    const { connection, clock } = this.options;
    const name = `${request.method} ${connection.serverUrl}${request.path}`;
    const scope = new AbortScope(clock, request.signal, request.timeoutMs, () => timedOut(name, request));
    const explain = (error: unknown): unknown => {
      if (scope.signal.aborted) return scope.signal.reason;
      if (error instanceof NotStartedError) return error.reason;
      return new ApiConnectionError(`${name}: ${describe(error)}`, { cause: error });
    };
    try {
      scope.signal.throwIfAborted();
      const headers = await this.headersOf(request);
      scope.signal.throwIfAborted();
      const response = await this.send(agent, request, headers, scope.signal);
      // Who reads the body hears of its errors; an abort between two reads must not crash the process.
      response.body.on('error', () => undefined);
      // Nothing is told of reads.
      if (request.method !== 'GET') tellStatus(response.statusCode);
      const head = headOf(name, response.statusCode, response.headers);
      return { status: response.statusCode, body: response.body, scope, explain, head };
    } catch (error) {
      const explained = explain(error);
      scope.close();
      throw explained;
    }
  }

  private async send(
    agent: Dispatcher,
    { body, mayStart, method, path }: HttpRequest,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { clock, metrics } = this.options;
    const startedMs = clock.monotonicNow();
    let code: string | undefined = '<error>';
    try {
      const { origin } = this;
      // undici would close the connection after every DELETE that has a body, as all of ours have.
      const reset = false;
      const request = { origin, path: this.basePath + path, method, headers, body, signal, reset, mayStart };
      const response = await agent.request(request);
      code = String(response.statusCode);
      return response;
    } catch (error) {
      if (error instanceof NotStartedError) code = undefined;
      throw error;
    } finally {
      const durationMs = clock.monotonicNow() - startedMs;
      if (code !== undefined) metrics?.request({ method, code, host: new URL(this.origin).host, durationMs });
    }
  }

  private async headersOf(request: HttpRequest): Promise<Record<string, string>> {
    const headers: Record<string, string> = {
      ...(await this.options.connection.credentials.headers()),
      accept: request.accept ?? 'application/json',
      'user-agent': this.options.userAgent,
    };
    if (request.ifNoneMatch) headers['if-none-match'] = request.ifNoneMatch;
    if (request.contentType) headers['content-type'] = request.contentType;
    writeTraceHeaders(headers);
    return headers;
  }
}

function newAgent(
  { connection, connectTimeoutMs }: HttpTransportOptions,
  connections: number | null,
): Dispatcher {
  const { ca, cert, key, serverName, insecureSkipVerify } = connection.tls;
  const isTls = connection.serverUrl.startsWith('https:');
  const agent = new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    // Below what API servers close idle connections at (Go: 90 s, Node: 5 s and says so).
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      // Made once: parsing the certificates anew for each of a burst of connections costs more than the handshakes.
      ...(isTls ? { secureContext: createSecureContext({ ca, cert, key }) } : {}),
      ...(serverName ? { servername: serverName } : {}),
      rejectUnauthorized: !insecureSkipVerify,
    },
  });
  return agent.compose(askBeforeStart);
}

function headOf(request: string, status: number, headers: ResponseHeaders): Omit<HttpAnswer, 'text'> {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return {
    request,
    status,
    contentType: String(headers['content-type'] ?? ''),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    ...(typeof headers.etag === 'string' && { etag: headers.etag }),
  };
}

function timedOut(name: string, request: HttpRequest): TimeoutError {
  return new TimeoutError(`${name}: nothing came for ${request.timeoutMs} ms`);
}

/** undici nests the operating system's reason; an AggregateError (several addresses) has no text of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  const message = errorMessage(error);
  return message === '' && error instanceof Error ? error.name : message;
}

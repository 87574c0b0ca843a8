import type { Dispatcher } from 'undici';
import type { Clock } from '@rollkeeper/machinery/clock';
import { TimeoutError, errorMessage, hasCode, errorCode } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import { tellStatus, writeTraceHeaders } from '@rollkeeper/machinery/trace-context';
import type { SilenceLimit } from './abort-scope.js';
import { AbortScope } from './abort-scope.js';
import type { MayStart } from './ask-before-start.js';
import { NotStartedError } from './ask-before-start.js';
import type { ApiClientMetrics, ApiClientRequest } from './api-client-metrics.js';
import type { ClusterConnection, CredentialHeaders } from './cluster-connection.js';
import type { ApiConnections, RequestDispatcher } from './connections.js';
import { Connections, MAX_ANSWER_BYTES } from './connections.js';
import { PodChannels } from './pod-channels.js';
import type { HttpAnswer } from './parse-response.js';
import { ApiConnectionError, ApiProtocolError } from './transport-errors.js';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest extends MayStart, SilenceLimit {
  readonly method: HttpMethod;
  /** Including the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** @default application/json */
  readonly accept?: string;
  /** ETag of the known state: 304 means that it is current. */
  readonly ifNoneMatch?: string;
  /** @default the transport's */
  readonly userAgent?: string;
  readonly signal?: AbortSignal;
}

/** Several streams that are to share one connection. */
interface ChannelsAsked extends Pick<HttpRequest, 'path' | 'userAgent' | 'signal'> {
  readonly protocols: readonly string[];
}

/** An answer whose body is still streaming. The reader must close `scope`. */
export interface StreamingAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array> & { text(): Promise<string> };
  readonly scope: AbortScope;
  /** Converts an error from reading `body` into the caller's reason or an {@link ApiConnectionError}. */
  readonly explain: (error: unknown) => unknown;
  readonly head: Omit<HttpAnswer, 'text'>;
}

interface HttpTransportOptions {
  readonly connection: ClusterConnection;
  readonly userAgent: string;
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  /** @default silent */
  readonly logger?: Logger;
  /** @default none */
  readonly metrics?: ApiClientMetrics;
  /** @default sockets */
  readonly connections?: ApiConnections;
}

/** Response headers of API priority and fairness (UIDs). */
const FLOW_SCHEMA = 'x-kubernetes-pf-flowschema-uid';
const PRIORITY_LEVEL = 'x-kubernetes-pf-prioritylevel-uid';

type ResponseHeaders = Dispatcher.ResponseData['headers'];
type OutgoingHeaders = Record<string, string | string[]>;

/**
 * HTTP/1.1 to one API server over undici. Timeouts are our own (a deadline per request, a silence limit per stream), on
 * the injected clock.
 */
export class HttpTransport {
  private readonly connections: ApiConnections;
  private readonly origin: string;
  private readonly host: string;
  private readonly basePath: string;

  constructor(private readonly options: HttpTransportOptions) {
    const url = new URL(options.connection.serverUrl);
    this.origin = url.origin;
    this.host = url.host;
    this.basePath = withoutTrailing(url.pathname, '/');
    this.connections = options.connections ?? new Connections(options);
  }

  /**
   * One attempt. Rejects with the signal's reason, the error of `mayStart`, {@link TimeoutError}, or
   * {@link ApiConnectionError}.
   */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    const answer = await this.start('requests', request);
    try {
      return { ...answer.head, text: await answer.body.text() };
    } catch (error) {
      throw answer.explain(error);
    } finally {
      answer.scope.close();
    }
  }

  /** Starts an endless answer; `timeoutMs` bounds its silence. */
  stream(request: HttpRequest): Promise<StreamingAnswer> {
    return this.start('streams', request);
  }

  /**
   * Opens a WebSocket with one of the protocols. Undefined: the server did not take it up, and did not say why.
   * @throws the signal's reason
   */
  async channels(request: ChannelsAsked): Promise<PodChannels | undefined> {
    const { path, protocols, signal, userAgent } = request;
    const credentials = await this.options.connection.credentials.headers();
    const headers = { ...credentials, 'user-agent': userAgent ?? this.options.userAgent };
    const url = this.origin.replace(/^http/, 'ws') + this.basePath + path;
    const dispatcher = this.connections.forChannels?.();
    if (!dispatcher) return undefined;
    return PodChannels.open({ url, protocols, headers, dispatcher }, signal);
  }

  close(): Promise<void> {
    return this.connections.close();
  }

  private async start(kind: 'requests' | 'streams', request: HttpRequest): Promise<StreamingAnswer> {
    const { connection, clock } = this.options;
    const name = `${request.method} ${connection.serverUrl}${request.path}`;
    const scope = new AbortScope(clock, request.signal, request, () => timedOut(name, request));
    const explain = (error: unknown): unknown => this.explain(name, scope.signal, error);
    try {
      scope.signal.throwIfAborted();
      const credentials = await connection.credentials.headers();
      scope.signal.throwIfAborted();
      const headers = this.headersOf(request, credentials);
      const response = await this.send(this.connections.current()[kind], request, headers, scope.signal);
      // The reader of the body gets its errors; an abort between two reads must not crash the process.
      response.body.on('error', () => undefined);
      // Reads are not traced.
      if (request.method !== 'GET') tellStatus(response.statusCode);
      const head = { ...headOf(name, response.statusCode, response.headers), credentials };
      return { status: response.statusCode, body: response.body, scope, explain, head };
    } catch (error) {
      const explained = explain(error);
      scope.close();
      throw explained;
    }
  }

  private explain(name: string, signal: AbortSignal, error: unknown): unknown {
    if (signal.aborted) {
      // Other requests on these connections should not have to time out one by one.
      if (hasCode(signal.reason, 'TIMEOUT')) this.connections.suspect();
      return signal.reason;
    }
    if (error instanceof NotStartedError) return error.reason;
    if (isTooLarge(error)) {
      const message = `${name}: the answer is larger than ${MAX_ANSWER_BYTES} bytes`;
      return new ApiProtocolError(message, { cause: error, tooLarge: true });
    }
    return new ApiConnectionError(`${name}: ${describe(error)}`, { cause: error });
  }

  private async send(
    agent: RequestDispatcher,
    { body, mayStart, method, path }: HttpRequest,
    headers: OutgoingHeaders,
    signal: AbortSignal,
  ): ReturnType<RequestDispatcher['request']> {
    const { clock, metrics } = this.options;
    const startedMs = clock.monotonicNow();
    const { host, origin } = this;
    const tell = (code: string, answered?: ResponseHeaders): void =>
      metrics?.request({
        method,
        code,
        host,
        durationMs: clock.monotonicNow() - startedMs,
        ...(answered && fairnessOf(answered)),
      });
    try {
      // undici would close the connection after every DELETE with a body, and all of ours have one.
      const reset = false;
      const request = { origin, path: this.basePath + path, method, headers, body, signal, reset, mayStart };
      const response = await agent.request(request);
      tell(String(response.statusCode), response.headers);
      return response;
    } catch (error) {
      if (!(error instanceof NotStartedError)) tell('<error>');
      throw error;
    }
  }

  private headersOf(request: HttpRequest, credentials: CredentialHeaders): OutgoingHeaders {
    const headers: Record<string, string> = {
      accept: request.accept ?? 'application/json',
      'user-agent': request.userAgent ?? this.options.userAgent,
    };
    if (request.ifNoneMatch) headers['if-none-match'] = request.ifNoneMatch;
    if (request.contentType) headers['content-type'] = request.contentType;
    writeTraceHeaders(headers);
    return Object.assign<OutgoingHeaders, CredentialHeaders>(headers, credentials);
  }
}

function headOf(
  request: string,
  status: number,
  headers: ResponseHeaders,
): Omit<HttpAnswer, 'text' | 'credentials'> {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  const dateMs = Date.parse(String(headers.date ?? ''));
  return {
    request,
    status,
    contentType: String(headers['content-type'] ?? ''),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    ...(typeof headers.etag === 'string' && { etag: headers.etag }),
    ...(Number.isFinite(dateMs) && { dateMs }),
  };
}

/** The priority-and-fairness queues of the request; absent if the server has none. */
function fairnessOf(headers: ResponseHeaders): Pick<ApiClientRequest, 'flowSchema' | 'priorityLevel'> {
  const [flowSchema, priorityLevel] = [headers[FLOW_SCHEMA], headers[PRIORITY_LEVEL]];
  if (typeof flowSchema !== 'string' || typeof priorityLevel !== 'string') return {};
  return { flowSchema, priorityLevel };
}

function isTooLarge(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
}

function timedOut(name: string, request: HttpRequest): TimeoutError {
  return new TimeoutError(`${name}: nothing came for ${request.timeoutMs} ms`);
}

/** undici nests the system error; an AggregateError (several addresses) has no text of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  const message = errorMessage(error);
  return message === '' && error instanceof Error ? error.name : message;
}

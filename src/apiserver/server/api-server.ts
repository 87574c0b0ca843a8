import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorMessage, IllegalStateError, StartupError } from '@rollkeeper/machinery/errors';
import type { ApiServerMetrics } from './api-server-metrics.js';
import type { ApiServerOptions } from './api-server.options.js';
import { noApiServerMetrics } from './api-server-metrics.js';
import { assembleApi } from './assemble-api.js';
import type { AssembledApi } from './assemble-api.js';
import { ANONYMOUS, isMaster } from '../access/auth/index.js';
import type { UserInfo } from '../access/auth/index.js';
import { isImpersonating, readImpersonation } from '../access/authorization/index.js';
import { translateDocumentLimit } from '../http/decoding/index.js';
import { internalError, unauthorized, StatusError } from '../schema/errors/index.js';
import type { SharedByRequests } from './exchange.js';
import { Exchange } from './exchange.js';
import {
  AnswerOrder,
  ByteBudget,
  compileServerLimits,
  Connections,
  createListener,
  endUnfinished,
  flowOf,
  acceptsGzip,
  formatOfRefusal,
  isPrettyAsked,
  negotiate,
  RequestGate,
  METRICS_TYPE,
  RequestSignals,
  send,
  sendError,
  commonHeaders,
  Upgrades,
} from '../http/index.js';
import type {
  ApiRequest,
  ApiResponse,
  CompiledServerLimits,
  Format,
  UpgradeResponse,
} from '../http/index.js';
import { translateStoreFailure } from '../objects/registry/index.js';
import { inRequestSpan } from './request-span.js';
import { needsOf } from './routing/request-attributes.js';
import { WEAKER_THAN_GENUINE } from './weaker-than-genuine.js';

/** Reachable without a token, as on a genuine server. */
const PUBLIC_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version']);

/** How a request is counted whose client left before its turn: as other servers call it. */
const GONE = 499;

/** The text that a client gets for a fault of the server. */
const SEE_LOG = 'see the log of the server';

/** A Kubernetes API on a store. */
export class ApiServer {
  /** Resolves when the server listens; rejects when it cannot. */
  readonly ready: Promise<{ readonly url: string }>;

  private readonly server: Server;
  private readonly api: AssembledApi;
  private readonly metrics: ApiServerMetrics;
  private readonly shared: SharedByRequests;
  private readonly answerOrder = new AnswerOrder();
  private readonly upgrades = new Upgrades();
  private readonly limits: CompiledServerLimits;
  private readonly connections: Connections;
  private settleReady!: { resolve: (value: { url: string }) => void; reject: (error: unknown) => void };
  private hasRun = false;
  private isDraining = false;

  constructor(private readonly options: ApiServerOptions) {
    const { clock } = options;
    this.metrics = options.metrics ?? noApiServerMetrics;
    this.api = assembleApi(options, this.metrics, () => new URL(this.url).host);
    this.limits = compileServerLimits(options.limits);
    this.connections = new Connections({
      clock,
      most: this.limits.maxConnections,
      mostUnknownPerAddress: this.limits.maxUnknownPerAddress,
      unknownIdleMs: this.limits.unknownIdleMs,
    });
    const { maxAnswerBytes, maxBodyBytes, maxWatchBytes, patienceMs, stallMs, watchPatienceMs } = this.limits;
    const onGivenUp = (requests: readonly ApiRequest[], length: number): void =>
      this.tellUnread(requests, length);
    const waits = { clock, patienceMs, stallMs };
    this.shared = {
      clock,
      kinds: options.kinds,
      metrics: this.metrics,
      signals: new RequestSignals(),
      gate: new RequestGate(this.limits, clock),
      bodies: new ByteBudget({ ...waits, limit: maxBodyBytes }),
      answers: new ByteBudget<ApiRequest>({ ...waits, limit: maxAnswerBytes, onGivenUp }),
      watches: new ByteBudget<ApiRequest>({
        ...waits,
        limit: maxWatchBytes,
        patienceMs: watchPatienceMs,
        onGivenUp,
      }),
    };
    const listener = (message: IncomingMessage, response: ServerResponse): void =>
      void this.handle(message, response).catch((error: unknown) => {
        this.breakOff({ method: message.method ?? '', path: message.url ?? '' }, response, error);
      });
    this.server = createListener(
      listener,
      this.limits,
      options.tls && { ...options.tls, clientCa: options.clientCa },
      this.connections,
    );
    this.upgrades.listen(this.server, listener);
    this.ready = new Promise((resolve, reject) => (this.settleReady = { resolve, reject }));
    // A failure is reported by `ready` to its waiters, and by `run` to all others.
    this.ready.catch(() => undefined);
  }

  /** `https://127.0.0.1:6443`. @throws IllegalStateError before the server listens */
  get url(): string {
    const address = this.server.address() as AddressInfo | null;
    if (!address) throw new IllegalStateError('the API server does not listen yet');
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `${this.options.tls ? 'https' : 'http'}://${host}:${address.port}`;
  }

  /**
   * Serves until aborted; then ends the watches, and waits for requests under way.
   * @throws StartupError when it cannot listen
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the API server has been run already');
    this.hasRun = true;
    const inner = new AbortController();
    try {
      await this.api.prepare(inner.signal);
      await this.listen();
      await this.api.announce(this.url, inner.signal);
      this.settleReady.resolve({ url: this.url });
      this.options.logger.info('the API server listens', { url: this.url });
      this.options.logger.info('weaker than a genuine API server', { because: WEAKER_THAN_GENUINE });
      if (!signal.aborted) await once(signal, 'abort');
      await this.drain();
    } catch (error) {
      this.settleReady.reject(error);
      throw error;
    } finally {
      inner.abort();
      this.connections.stop();
      this.shared.bodies.stop();
      this.shared.answers.stop();
      this.shared.watches.stop();
      await this.api.ended();
    }
  }

  private async listen(): Promise<void> {
    const { host = '127.0.0.1', port = 0 } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', (error: NodeJS.ErrnoException) => {
        const problem = error.code === 'EADDRINUSE' ? 'the port is in use' : error.message;
        reject(new StartupError(`cannot listen on ${host}:${port}: ${problem}`, { cause: error }));
      });
      this.server.listen(port, host, resolve);
    });
  }

  private async drain(): Promise<void> {
    const { clock, drainTimeoutMs = 5000 } = this.options;
    this.isDraining = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.shared.signals.stop();
    this.server.closeIdleConnections();
    const timer = clock.setTimeout(() => {
      this.server.closeAllConnections();
      this.upgrades.destroy();
    }, drainTimeoutMs);
    await closed;
    timer.cancel();
  }

  private async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(message, response, this.shared);
    const { request } = exchange;
    this.occupy(message, response);
    const turn = this.answerOrder.turn(message, response);
    if (turn && !(await turn)) return exchange.done(GONE);
    try {
      if (!PUBLIC_PATHS.has(request.path)) await this.letIn(exchange);
      const answer = await inRequestSpan(request, () => this.answer(request));
      exchange.leavePlaceUnlessWatch();
      if ('serve' in answer) return this.upgrade(exchange, answer);
      if (!exchange.isKnown) this.announceShortLife(response);
      await this.send(request, response, answer);
    } catch (error) {
      this.refuse(exchange, error);
    }
    exchange.leavePlace();
    if (!response.writableEnded) response.end();
    exchange.done(response.statusCode);
    this.leaveConnection(exchange);
  }

  /**
   * From authentication and authorization to the body and a place among the requests in flight.
   * @throws StatusError 401, 403, 413, 429
   */
  private async letIn(exchange: Exchange): Promise<void> {
    const { message, request } = exchange;
    const user = await this.authenticate(message);
    exchange.isKnown = this.api.authorizer.isOpen || (user !== undefined && user !== ANONYMOUS);
    if (exchange.isKnown) this.connections.belongsTo(message.socket, user ? flowOf(user) : '');
    this.identify(request, message, user);
    const reading = this.api.authorizer.ready(request.user);
    if (reading) await reading;
    this.admitCounted(request);
    // A place is for work: a client that sends or reads slowly must not keep others from theirs.
    if (hasBody(message)) await this.receiveBody(exchange);
    await exchange.takePlace();
  }

  private upgrade(exchange: Exchange, answer: UpgradeResponse): void {
    const { message, response } = exchange;
    // The connection is busy for the duration of the request.
    this.connections.began(message.socket);
    this.upgrades.accept(message, response, answer);
    exchange.done(answer.status);
  }

  /** Notes that the connection of a request is at work until it has been answered. */
  private occupy({ socket }: IncomingMessage, response: ServerResponse): void {
    this.connections.began(socket);
    response.once('close', () => this.connections.ended(socket));
  }

  private async receiveBody(exchange: Exchange): Promise<void> {
    const { socket } = exchange.message;
    this.connections.sends(socket, true);
    await exchange.receiveBody();
    this.connections.sends(socket, false);
  }

  private async authenticate(message: IncomingMessage): Promise<UserInfo | undefined> {
    const { clock } = this.options;
    const startedMs = clock.monotonicNow();
    const identified = this.api.authenticator.identify(message);
    const user = identified instanceof Promise ? await identified : identified;
    const outcome = user ? 'success' : 'failure';
    this.metrics.authenticated(outcome, user?.username ?? '', clock.monotonicNow() - startedMs);
    return user;
  }

  /** @throws StatusError 403 */
  private admitCounted(request: ApiRequest): void {
    const { clock } = this.options;
    const startedMs = clock.monotonicNow();
    let decision: 'allowed' | 'denied' = 'denied';
    try {
      this.admit(request);
      decision = 'allowed';
    } finally {
      this.metrics.authorized(decision, clock.monotonicNow() - startedMs);
    }
  }

  /** Announces the timeout, so that a client that heeds it sends no request on a connection that has just ended. */
  private announceShortLife(response: ServerResponse): void {
    if (!response.shouldKeepAlive) return;
    response.setHeader('Connection', 'keep-alive');
    response.setHeader('Keep-Alive', `timeout=${Math.ceil(this.limits.unknownIdleMs / 1000)}`);
  }

  /**
   * Finds the user of the request: the client's own, or the one that it impersonates and may impersonate.
   * @throws StatusError 401, 403
   */
  private identify(request: ApiRequest, message: IncomingMessage, user?: UserInfo): void {
    if (!user) throw unauthorized();
    request.user = user;
    // `headersDistinct` is made when it is first read.
    if (!isImpersonating(message.headers)) return;
    const other = readImpersonation(message.headersDistinct);
    if (!other) return;
    for (const need of other.needs) this.api.authorizer.assertAllowed(user, need);
    request.user = other.user;
  }

  /**
   * Admits a user who may do what the request asks for.
   * @throws StatusError 403
   */
  private admit(request: ApiRequest): void {
    if (isMaster(request.user) || this.api.authorizer.isOpen) return;
    for (const need of needsOf(request)) this.api.authorizer.assertAllowed(request.user, need);
  }

  private async send(
    request: ApiRequest,
    response: ServerResponse,
    answer: Exclude<ApiResponse, UpgradeResponse>,
  ): Promise<void> {
    const { accept, 'accept-encoding': encoding = '' } = request.headers;
    const format = 'body' in answer ? formatOfBody(accept) : 'json';
    const { toProtobuf } = this.api;
    if (this.isDraining) response.shouldKeepAlive = false;
    const common = commonHeaders(request.headers['audit-id']);
    const options = { format, toProtobuf, common, acceptsGzip: acceptsGzip(encoding) };
    await send(request, response, answer, { ...options, isPretty: isPrettyAnswer(request) });
  }

  /** The rest of a refused request's body must not block the next request, nor continue for long. */
  private leaveConnection({ isKnown, message, response }: Exchange): void {
    if (!message.readableEnded) message.resume();
    if (!isKnown || response.statusCode >= 400) {
      const { lingerMs } = this.limits;
      endUnfinished(message, response, { clock: this.options.clock, lingerMs });
    }
    if (this.isDraining) closeOnceSent(response, message.socket);
  }

  /** The metrics are for users who may do everything, like all but the public paths. */
  private async answer(request: ApiRequest): Promise<ApiResponse> {
    if (request.path !== '/metrics') return this.api.router.route(request);
    const raw = await this.metrics.serialize();
    return { status: 200, raw, contentType: METRICS_TYPE };
  }

  private tellUnread(requests: readonly ApiRequest[], length: number): void {
    const watches = requests.filter(({ isWatch }) => isWatch).length;
    this.options.logger.warn('ended answers that their clients did not read while others needed the room', {
      watches,
      others: requests.length - watches,
      characters: length,
      path: requests[0]?.path,
    });
  }

  private refuse(exchange: Exchange, thrown: unknown): void {
    const { isKnown, message, request, response } = exchange;
    // An unknown client must not keep a connection by sending slowly.
    if (!isKnown && hasBody(message)) response.shouldKeepAlive = false;
    if (thrown instanceof StatusError && thrown.status.code === 429) exchange.refusedForOthers();
    const error = translateDocumentLimit(translateStoreFailure(thrown));
    const isOurs = error instanceof StatusError;
    // The client disconnected while its request waited for something.
    if (response.destroyed && isAbort(error)) return;
    if (!isOurs || error.status.code >= 500) {
      this.options.logger.error('a request failed', {
        method: request.method,
        path: request.path,
        error: errorMessage(error),
        ...(!isOurs && error instanceof Error && { stack: error.stack }),
      });
    }
    if (response.headersSent || response.destroyed) response.destroy();
    else this.sendRefusal(request, response, isOurs ? error : internalError(SEE_LOG, error));
  }

  private sendRefusal(request: ApiRequest, response: ServerResponse, error: StatusError): void {
    try {
      const { toProtobuf } = this.api;
      const { accept, 'audit-id': auditId } = request.headers;
      const common = commonHeaders(auditId);
      sendError(response, error, {
        format: formatOfRefusal(accept),
        toProtobuf,
        common,
        warned: request.warned,
        isPretty: isPrettyAnswer(request),
      });
    } catch (problem) {
      this.breakOff(request, response, problem);
    }
  }

  /** The last guard: if an answer cannot be written, sends a 500 or closes the connection; never ends the process. */
  private breakOff(
    { method, path }: Pick<ApiRequest, 'method' | 'path'>,
    response: ServerResponse,
    error: unknown,
  ): void {
    this.options.logger.error('an answer could not be written', {
      method,
      path,
      error: errorMessage(error),
      ...(error instanceof Error && { stack: error.stack }),
    });
    try {
      if (!response.headersSent && !response.destroyed) return sendError(response, internalError(SEE_LOG));
    } catch {
      // The connection may fail even for the error. It is closed below.
    }
    response.destroy();
  }
}

/** The documents of OpenAPI are for programs: they are not indented for a browser either. */
function isPrettyAnswer(request: ApiRequest): boolean {
  return isPrettyAsked(request) && !request.path.startsWith('/openapi/');
}

/** The form of an answer has been found acceptable already; an object without a message is written as JSON. */
function formatOfBody(accept: string | undefined): Format {
  if (!accept || !/yaml|protobuf/.test(accept)) return 'json';
  return negotiate(accept, { hasProtobuf: true }).format;
}

/** A connection that falls idle after a stop has begun would hold it up; its client could not know from the headers. */
function closeOnceSent(response: ServerResponse, socket: Socket): void {
  if (response.writableFinished) socket.end();
  else response.once('finish', () => socket.end());
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

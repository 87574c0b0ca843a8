import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock, RandomSource } from '../clock/index.js';
import { errorMessage, IllegalStateError, StartupError } from '../errors/index.js';
import type { Logger } from '../logging/index.js';
import type { ApiServerMetrics } from './api-server-metrics.js';
import { noApiServerMetrics } from './api-server-metrics.js';
import { NamespaceLifecycle } from './admission/index.js';
import { bearerTokenCheck } from './auth/index.js';
import { countRequest } from './count-request.js';
import { translateDocumentLimit } from './decoding/index.js';
import { ensureInitialNamespaces } from './bootstrap/index.js';
import { internalError, StatusError, unauthorized } from './errors/index.js';
import { EventExpiry } from './event-expiry/index.js';
import { ApiRequest, negotiate, RequestSignals, send, sendError } from './http/index.js';
import type { ApiResponse } from './http/index.js';
import type { KindRegistry } from './kinds/index.js';
import type { RegistryContext } from './registry/index.js';
import { translateStoreFailure } from './registry/index.js';
import { inRequestSpan } from './request-span.js';
import { ADMIN, ANONYMOUS } from './reviews/index.js';
import type { Identities } from './reviews/index.js';
import { Router } from './routing/index.js';
import type { SchemaRegistry } from './schema/index.js';
import type { Storage } from './storage/index.js';
import { withStorageMetrics } from './storage/index.js';
import type { TlsMaterial } from './tls/index.js';
import { SharedEvents } from './watch-events/index.js';

export interface ApiServerOptions {
  /** Its `run` is the caller's business, and must go on for as long as the server runs. */
  readonly storage: Storage;
  readonly kinds: KindRegistry;
  readonly schemas: SchemaRegistry;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Absent: plain HTTP. */
  readonly tls?: Pick<TlsMaterial, 'cert' | 'key'>;
  /** Absent: everybody may do everything. */
  readonly token?: string;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** 0 lets the system choose. @default 0 */
  readonly port?: number;
  /** @default none */
  readonly metrics?: ApiServerMetrics;
  /** How long a stop waits for requests under way, milliseconds. @default 5000 */
  readonly drainTimeoutMs?: number;
}

/** Reachable without a token, as a genuine server grants to everybody. */
const PUBLIC_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version']);

/** Idle connections are kept longer than clients keep theirs, so that it is never us who closes under a request. */
const KEEP_ALIVE_MS = 180_000;

/** A Kubernetes API on a store. */
export class ApiServer {
  /** Resolves when the server listens; rejects when it cannot. */
  readonly ready: Promise<{ readonly url: string }>;

  private readonly server: Server;
  private readonly context: RegistryContext;
  private readonly router: Router;
  private readonly metrics: ApiServerMetrics;
  private readonly signals = new RequestSignals();
  private readonly isAuthorized: (authorization: string | undefined) => boolean;
  private settleReady!: { resolve: (value: { url: string }) => void; reject: (error: unknown) => void };
  private hasRun = false;
  private isDraining = false;

  constructor(private readonly options: ApiServerOptions) {
    const { kinds, schemas, clock, random, logger, token } = options;
    this.metrics = options.metrics ?? noApiServerMetrics;
    const storage = withStorageMetrics(options.storage, clock, (...operation) =>
      this.metrics.stored(...operation),
    );
    const namespaces = new NamespaceLifecycle(storage, clock, logger);
    this.context = { storage, kinds, schemas, clock, random, logger, namespaces, events: new SharedEvents() };
    this.isAuthorized = token === undefined ? () => true : bearerTokenCheck(token);
    this.router = new Router(this.context, () => new URL(this.url).host, identitiesOf(token));
    const listener: RequestListener = (message, response) => void this.handle(message, response);
    this.server = options.tls
      ? createHttpsServer({ ...options.tls, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' }, listener)
      : createHttpServer(listener);
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.server.requestTimeout = 0;
    this.ready = new Promise((resolve, reject) => (this.settleReady = { resolve, reject }));
    // Whoever waits for `ready` hears of a failure there, everybody else from `run`.
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
    const { storage, clock, logger } = this.options;
    const inner = new AbortController();
    const background = [
      this.context.namespaces.run(inner.signal),
      new EventExpiry({ storage, clock, logger }).run(inner.signal),
    ];
    try {
      await ensureInitialNamespaces(this.context);
      await this.listen();
      this.settleReady.resolve({ url: this.url });
      logger.info('the API server listens', { url: this.url });
      if (!signal.aborted) await once(signal, 'abort');
      await this.drain();
    } catch (error) {
      this.settleReady.reject(error);
      throw error;
    } finally {
      inner.abort();
      await Promise.all(background);
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
    this.signals.stop();
    this.server.closeIdleConnections();
    const timer = clock.setTimeout(() => this.server.closeAllConnections(), drainTimeoutMs);
    await closed;
    timer.cancel();
  }

  private async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = new ApiRequest(message, () => this.signals.of(response));
    const { clock, kinds } = this.options;
    const counted = countRequest(request, kinds, { clock, metrics: this.metrics });
    try {
      if (!this.isAuthorized(request.headers.authorization) && !PUBLIC_PATHS.has(request.path)) {
        throw unauthorized();
      }
      const answer = await inRequestSpan(request, () => this.answer(request));
      const { accept, 'accept-encoding': encoding = '' } = request.headers;
      const format = 'body' in answer && accept?.includes('yaml') ? negotiate(accept).format : 'json';
      if (this.isDraining) response.shouldKeepAlive = false;
      await send(response, answer, { format, acceptsGzip: encoding.includes('gzip') });
    } catch (error) {
      this.refuse(request, response, error);
    }
    if (!response.writableEnded) response.end();
    counted(response.statusCode);
    // What a refused client still sends must not stand in the way of its next request.
    if (!message.readableEnded) message.resume();
    if (this.isDraining) closeOnceSent(response, message.socket);
  }

  /** The metrics are for those who may do everything, like all but the public paths. */
  private async answer(request: ApiRequest): Promise<ApiResponse> {
    if (request.path !== '/metrics') return this.router.route(request);
    const raw = await this.metrics.serialize();
    return { status: 200, raw, contentType: 'text/plain; version=0.0.4; charset=utf-8' };
  }

  private refuse(request: ApiRequest, response: ServerResponse, thrown: unknown): void {
    const error = translateDocumentLimit(translateStoreFailure(thrown));
    const isOurs = error instanceof StatusError;
    if (!isOurs || error.status.code >= 500) {
      this.options.logger.error('a request failed', {
        method: request.method,
        path: request.path,
        error: errorMessage(error),
        ...(!isOurs && error instanceof Error && { stack: error.stack }),
      });
    }
    if (response.headersSent || response.destroyed) response.destroy();
    else sendError(response, isOurs ? error : internalError('see the log of the server', error));
  }
}

/** A connection that falls idle after a stop has begun would hold it up; its client could not know from the headers. */
function closeOnceSent(response: ServerResponse, socket: Socket): void {
  if (response.writableFinished) socket.end();
  else response.once('finish', () => socket.end());
}

/** One user, who has the token; or none, and all doors open. */
function identitiesOf(token: string | undefined): Identities {
  if (token === undefined) return { knows: () => false, self: ANONYMOUS, isOpen: true };
  const isRight = bearerTokenCheck(token);
  return { knows: (given) => isRight(`Bearer ${given}`), self: ADMIN, isOpen: false };
}

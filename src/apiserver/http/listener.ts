import { createServer as createHttpServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SERVER_PROTOCOLS } from '@rollkeeper/tls';
import type { Connections } from './connections.js';
import type { CompiledServerLimits } from './server-limits.js';
import { asksForWebSocket } from './upgrade.js';

/** Certificate and key, PEM. */
interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /** The authority whose client certificates are accepted, PEM. @default none is asked for */
  readonly clientCa?: string;
}

/** Idle connections are kept longer than clients keep theirs, so that the server never closes one under a request. */
const KEEP_ALIVE_MS = 180_000;
/** How often Node looks for requests that are late. */
const LOOK_EVERY_MS = 1000;

/** The HTTP server, plain without `tls`. What is sent by halves it ends by itself, answering 408 or 431 where it can. */
export function createListener(
  listener: RequestListener,
  limits: CompiledServerLimits,
  tls: ListenerTls | undefined,
  connections: Connections,
): Server {
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(LOOK_EVERY_MS, limits.headersTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Older releases of Node do not call this, and pass on every upgrade request.
    shouldUpgradeCallback: asksForWebSocket,
  };
  const server = tls
    ? createHttpsServer(
        {
          ...options,
          cert: tls.cert,
          key: tls.key,
          // A client without a certificate, or with one of another authority, may still have a token.
          ...(tls.clientCa && { ca: tls.clientCa, requestCert: true, rejectUnauthorized: false }),
          ALPNProtocols: ['http/1.1'],
          ...SERVER_PROTOCOLS,
          handshakeTimeout: limits.headersTimeoutMs,
        },
        listener,
      )
    : createHttpServer(options, listener);
  server.on('connection', (socket: Socket) => connections.opened(socket));
  server.on('secureConnection', (socket: Socket) => connections.secured(socket));
  server.on('clientError', refuseRequest);
  return server;
}

/** Answers to malformed requests, by the code of Node's error. All other codes get 400. */
const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Node's own mark of the response that is being written to a socket. */
interface AnsweringSocket extends Duplex {
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/** In the words of Go's server. */
function refuseRequest({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  const isAnswering = (socket as AnsweringSocket)._httpMessage?.headersSent === true;
  if (code !== 'ECONNRESET' && socket.writable && !isAnswering) {
    const status = REFUSALS[code] ?? '400 Bad Request';
    const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n`;
    socket.write(head + status);
  }
  // At once, as Node does: a handshake that never ends would hold what is still to be sent.
  socket.destroy();
}

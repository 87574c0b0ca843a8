import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { SERVER_PROTOCOLS } from '@rollkeeper/tls';

/** Resource limits of one connection. */
export interface ConnectionLimits {
  /**
   * From the first byte of a request to the last of its body, milliseconds; then 408, and the connection is closed.
   * @default 15000
   */
  readonly requestTimeout?: number;
  /** Timeout of the headers, milliseconds; also the longest complete silence. @default 10000 */
  readonly headersTimeout?: number;
  /** Interval of these checks, milliseconds. @default 1000 */
  readonly connectionsCheckingInterval?: number;
  /** Total size of the headers, bytes; more is answered 431. @default 16384 */
  readonly maxHeaderSize?: number;
  /** Timeout of the TLS handshake, milliseconds. @default 10000 */
  readonly handshakeTimeout?: number;
}

const DEFAULTS: Required<ConnectionLimits> = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 << 10,
  handshakeTimeout: 10_000,
};
/** Timeout of an answer that is not being read. More than the longest profile, which sends nothing until it ends. */
const SILENCE_TIMEOUT_MS = 90_000;
/** Requests in progress at a stop are answered within this time, or cut off: open connections must not delay a stop. */
const LAST_ANSWERS_MS = 500;
/** Requests only contain a key and a reason. */
const LARGEST_BODY = '16kb';

/** Express for Nest, on a server with bounded resources per client. With TLS, the certificate has to be set later. */
export class AdminHttpAdapter extends ExpressAdapter {
  constructor(
    private readonly tls: boolean,
    private readonly limits: ConnectionLimits = {},
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
  }

  override initHttpServer(): void {
    const { handshakeTimeout, ...limits } = { ...DEFAULTS, ...this.limits };
    this.httpServer = this.tls
      ? createTlsServer({ ...limits, ...SERVER_PROTOCOLS, handshakeTimeout }, this.getInstance())
      : createServer(limits, this.getInstance());
    this.httpServer.setTimeout(SILENCE_TIMEOUT_MS);
  }

  /**
   * Node only closes connections that are idle or answered during the close. One without a request, or without an
   * answer, would stay as long as its client keeps it.
   */
  override async close(): Promise<void> {
    const server = this.httpServer;
    const cutOff = this.clock.setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
    await super.close();
    cutOff.cancel();
  }

  /** Only JSON: pages of other sites can send forms without a preflight. */
  override registerParserMiddleware(): void {
    this.useBodyParser('json', false, { limit: LARGEST_BODY });
  }
}

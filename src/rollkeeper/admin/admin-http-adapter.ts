import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { SERVER_PROTOCOLS } from '@rollkeeper/tls';

/** What one connection may cost us. */
export interface ConnectionLimits {
  /** From the first byte of a request to the last of its body, milliseconds; then 408, and the connection ends. @default 15000 */
  readonly requestTimeout?: number;
  /** Until the headers are there, milliseconds; also how long one may say nothing at all. @default 10000 */
  readonly headersTimeout?: number;
  /** How often that is looked at, milliseconds. @default 1000 */
  readonly connectionsCheckingInterval?: number;
  /** Of all headers together, bytes; more is answered 431. @default 16384 */
  readonly maxHeaderSize?: number;
  /** Until the TLS handshake is done, milliseconds. @default 10000 */
  readonly handshakeTimeout?: number;
}

const DEFAULTS: Required<ConnectionLimits> = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 << 10,
  handshakeTimeout: 10_000,
};
/** An answer that nobody reads is given up after so long. More than the longest profile takes, which says nothing meanwhile. */
const SILENCE_TIMEOUT_MS = 90_000;
/** What is under way at a stop is answered within this, or cut off: nobody's open connection may hold up a stop. */
const LAST_ANSWERS_MS = 500;
/** Requests are a key and a reason. */
const LARGEST_BODY = '16kb';

/** Express for Nest, on a server that bounds what clients cost it. With TLS the certificate is yet to be set. */
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
   * Node ends by itself the connections that are idle and those that it answers meanwhile. One on which nothing was asked, or is
   * never answered, would stay for as long as its client keeps it.
   */
  override async close(): Promise<void> {
    const server = this.httpServer as Server;
    const cutOff = this.clock.setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
    await super.close();
    cutOff.cancel();
  }

  /** JSON alone: forms are what pages of other sites can send without asking. */
  override registerParserMiddleware(): void {
    this.useBodyParser('json', false, { limit: LARGEST_BODY });
  }
}

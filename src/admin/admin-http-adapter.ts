import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { ExpressAdapter } from '@nestjs/platform-express';

/** What one connection may cost us. Nothing that the admin port takes is larger than a few hundred bytes. */
const LIMITS = {
  /** From its first byte to the last of its body, milliseconds; who sends half of one is answered 408 and cut off. */
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  /** Bytes; more is answered 431. */
  maxHeaderSize: 16 << 10,
};
/** Who connects and does not finish the TLS handshake, milliseconds. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Express for Nest, on a server that bounds what clients cost it. With TLS the certificate is yet to be set. */
export class AdminHttpAdapter extends ExpressAdapter {
  constructor(private readonly tls: boolean) {
    super();
  }

  override initHttpServer(): void {
    this.httpServer = this.tls
      ? createTlsServer({ ...LIMITS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }, this.getInstance())
      : createServer(LIMITS, this.getInstance());
  }
}

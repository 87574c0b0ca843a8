import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server with a number for each name, `{ "rate": 0.01 }` at `/NAME`, for those that have its token. */
export class MetricServer {
  rates: Record<string, number> = {};
  /** The `authorization` of each request. */
  readonly tokens: string[] = [];
  private readonly server: Server;

  constructor(token: string) {
    this.server = createServer(({ headers, url = '' }, response) => {
      this.tokens.push(headers.authorization ?? '');
      const rate = this.rates[url.slice(1)];
      const isAllowed = headers.authorization === `Bearer ${token}`;
      response.writeHead(isAllowed ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isAllowed ? { rate } : {}));
    });
  }

  /** @returns its host and port */
  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

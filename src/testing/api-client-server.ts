import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { ServerOptions } from 'node:https';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly raw: IncomingMessage;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>;

/** A loopback server that gives the test's answers and records all requests. */
export class ApiClientServer {
  readonly received: ReceivedRequest[] = [];
  private answers: Answer[] = [];
  private fallback: Answer = json(404, {
    kind: 'Status',
    code: 404,
    reason: 'NotFound',
    message: 'not found',
  });

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  /** @param tls use TLS with these options */
  static async start(tls?: ServerOptions): Promise<ApiClientServer> {
    const listener: RequestListener = (request, response) => void self.handle(request, response);
    const server = tls ? createTlsServer(tls, listener) : createServer(listener);
    const self = new ApiClientServer(server, tls ? 'https' : 'http');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return self;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Answers the next requests with these, in order. */
  next(...answers: Answer[]): this {
    this.answers.push(...answers);
    return this;
  }

  /** The answer for every other request. */
  always(answer: Answer): this {
    this.fallback = answer;
    return this;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of raw) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const { method = '', url = '', headers } = raw;
    const request = { method, url, headers, body, raw };
    this.received.push(request);
    await (this.answers.shift() ?? this.fallback)(response, request);
  }
}

/** Answers with a JSON body. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Breaks the connection without an answer. */
export const hangUp: Answer = (response) => void response.destroy();

/** Never answers. */
export const silence: Answer = () => undefined;

/** Answers 200 and sends pieces of a body, each as a separate chunk; `end` closes the stream. */
export function stream(
  pieces: readonly (string | Buffer)[],
  options: { end: boolean } = { end: true },
): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const piece of pieces) {
      response.write(piece);
      // One turn of the event loop each, or the pieces would arrive as one.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    if (options.end) response.end();
  };
}

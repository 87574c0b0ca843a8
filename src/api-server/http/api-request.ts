import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { badRequest, bodyTooLarge } from '../errors/index.js';

/** Largest body taken, bytes: what etcd lets a genuine server take, twice. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** One request, as handlers see it. */
export class ApiRequest {
  /** Upper case. */
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  private ownSignal: AbortSignal | undefined;

  constructor(
    private readonly message: IncomingMessage,
    private readonly makeSignal: () => AbortSignal,
  ) {
    const url = message.url ?? '/';
    const mark = url.indexOf('?');
    this.method = message.method ?? 'GET';
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
    this.headers = message.headers;
  }

  /** Aborts when the client has gone or the server stops. */
  get signal(): AbortSignal {
    this.ownSignal ??= this.makeSignal();
    return this.ownSignal;
  }

  /** The media type of the body, lower case, without parameters; empty when the client named none. */
  get contentType(): string {
    const header = this.headers['content-type'] ?? '';
    const end = header.indexOf(';');
    return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
  }

  /** A query parameter that Kubernetes reads as a boolean. */
  flag(name: string): boolean {
    const value = this.query.get(name);
    return value !== null && value !== 'false' && value !== '0';
  }

  /** @throws StatusError 413 beyond {@link MAX_BODY_BYTES} */
  readBody(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      this.message.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) reject(bodyTooLarge(MAX_BODY_BYTES));
        else chunks.push(chunk);
      });
      this.message.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      this.message.on('error', (error) =>
        reject(badRequest(`reading the body failed: ${error.message}`, error)),
      );
      this.message.on('close', () => {
        if (!this.message.complete) reject(badRequest('the client went away before the body was complete'));
      });
    });
  }
}

import { once } from 'node:events';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';

/** Where a server is and how it lets one in. */
export interface HttpTarget {
  readonly port: number;
  readonly ca: string;
  readonly token: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** The whole body; empty unless it was asked for. */
  readonly body: string;
}

const HEADERS_END = '\r\n\r\n';

/**
 * One keep-alive connection with one request at a time, made to cost next to nothing: requests are texts that are ready
 * to be sent, and of an answer nothing is looked at but its status and length.
 */
export class HttpConnection {
  private resolve: ((answer: HttpAnswer) => void) | undefined;
  private reject: ((error: Error) => void) | undefined;
  private wantsBody = false;
  private status = 0;
  private missing = -1;
  private parts: Buffer[] = [];
  private head: Buffer | undefined;

  private constructor(private readonly socket: TLSSocket) {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('close', () => this.reject?.(new Error('the server closed the connection')));
    socket.on('error', (error: Error) => this.reject?.(error));
  }

  static async open(target: HttpTarget): Promise<HttpConnection> {
    return new HttpConnection(await openSocket(target));
  }

  /** @param text a whole HTTP/1.1 request, see `requestText` */
  request(text: string, { body = false }: { readonly body?: boolean } = {}): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      this.wantsBody = body;
      this.socket.write(text);
    });
  }

  close(): void {
    this.reject = undefined;
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    if (this.missing < 0) {
      const data = this.head ? Buffer.concat([this.head, chunk]) : chunk;
      const end = data.indexOf(HEADERS_END);
      this.head = end < 0 ? data : undefined;
      if (end < 0) return;
      this.begin(data.toString('latin1', 0, end));
      this.take(data.subarray(end + HEADERS_END.length));
    } else this.take(chunk);
  }

  private begin(head: string): void {
    this.status = Number(head.slice(9, 12));
    const length = /^content-length: (\d+)$/im.exec(head)?.[1];
    if (length === undefined) this.reject?.(new Error(`an answer without a length: ${head}`));
    this.missing = Number(length);
  }

  private take(chunk: Buffer): void {
    this.missing -= chunk.length;
    if (this.wantsBody) this.parts.push(chunk);
    if (this.missing > 0) return;
    const answer = { status: this.status, body: this.wantsBody ? Buffer.concat(this.parts).toString() : '' };
    this.missing = -1;
    this.parts = [];
    this.resolve?.(answer);
  }
}

export async function openSocket({ ca, port }: HttpTarget): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  await once(socket, 'secureConnect');
  socket.setNoDelay(true);
  return socket;
}

/** A request as it goes over the wire. */
export function requestText(
  { port, token }: Pick<HttpTarget, 'port' | 'token'>,
  method: string,
  path: string,
  body?: { readonly type: string; readonly text: string },
): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n`;
  if (!body) return `${head}\r\n`;
  return `${head}Content-Type: ${body.type}\r\nContent-Length: ${Buffer.byteLength(body.text)}\r\n\r\n${body.text}`;
}

import { once } from 'node:events';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { AnswerReader } from './answer-reader.js';

/** The address of a server, and the certificate or token that it accepts. */
export interface HttpTarget {
  readonly port: number;
  readonly ca: string;
  readonly token: string;
}

/** An answer of the server. */
export interface HttpAnswer {
  readonly status: number;
  /** The whole body; empty unless it was asked for. */
  readonly body: string;
}

/**
 * One keep-alive connection with one request at a time, made to cost next to nothing: requests are texts that are ready
 * to be sent.
 */
export class HttpConnection {
  private resolve: ((answer: HttpAnswer) => void) | undefined;
  private reject: ((error: unknown) => void) | undefined;
  private parts: Buffer[] = [];
  private readonly answers = new AnswerReader((status) => this.finish(status));

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
      this.answers.onBody = body ? (part) => this.parts.push(part) : undefined;
      this.socket.write(text);
    });
  }

  close(): void {
    this.reject = undefined;
    this.socket.destroy();
  }

  private finish(status: number): void {
    const body = Buffer.concat(this.parts).toString();
    this.parts = [];
    this.resolve?.({ status, body });
  }

  private receive(chunk: Buffer): void {
    try {
      this.answers.read(chunk);
    } catch (error) {
      this.reject?.(error);
    }
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

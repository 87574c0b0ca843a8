import { connect } from 'node:net';

/** A request whose method, path and headers go over the wire as they stand here: HTTP clients tidy them up. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  /** Head and body; of a watch without an end the first event. */
  readonly text: string;
}

/** One request on a connection of its own. The answer is over when the server closes it. */
export function sendRaw(
  url: string,
  { body = '', headers = {}, method, path }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const fields = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, ...fields, ...length];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!isEndless(path) || !FIRST_EVENT.test(text)) return;
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      resolve({ status, text });
    });
    socket.write(`${head.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);
  });
}

const FIRST_EVENT = /^\{"type":.*\n/m;

function isEndless(path: string): boolean {
  return path.startsWith('/api/v1/watch/');
}

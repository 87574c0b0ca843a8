import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';

/** A proxy that notes what it was asked for. */
export interface TestProxy {
  readonly port: number;
  /** `CONNECT host:port as LOGIN`, `GET http://… as LOGIN`, `SOCKS host:port as LOGIN`; without a login, nothing of it. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/** @param tls speaks TLS to its clients, where given */
export async function startHttpProxy(tls?: { cert: string; key: string }): Promise<TestProxy> {
  const asked: string[] = [];
  const note = (what: string, { headers }: IncomingMessage): void => {
    const [, login] = (headers['proxy-authorization'] ?? '').split(' ');
    asked.push(login ? `${what} as ${Buffer.from(login, 'base64').toString()}` : what);
  };
  const forward: RequestListener = (incoming, answer) => {
    note(`${incoming.method} ${new URL(incoming.url ?? '').origin}`, incoming);
    const { headers, method, url = '' } = incoming;
    const outgoing = request(url, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(outgoing);
  };
  const server = tls ? createTlsServer(tls, forward) : createServer(forward);
  server.on('connect', (incoming: IncomingMessage, client: Duplex) => {
    note(`CONNECT ${incoming.url}`, incoming);
    const [host = '', port] = (incoming.url ?? '').split(':');
    const target = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    tie(client, target);
  });
  return listen(server, asked);
}

/** SOCKS 5 (RFC 1928) as far as a client with a name and a password (RFC 1929) needs it. */
export async function startSocksProxy(): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createTcpServer((client) => void serveSocks(client, asked).catch(() => client.destroy()));
  return listen(server, asked);
}

async function serveSocks(client: Socket, asked: string[]): Promise<void> {
  const next = (): Promise<Buffer> => new Promise((resolve) => client.once('data', resolve));
  const methods = [...(await next()).subarray(2)];
  const wantsLogin = methods.includes(2);
  client.write(Buffer.from([5, wantsLogin ? 2 : 0]));
  let login = '';
  if (wantsLogin) {
    const given = await next();
    const nameLength = given[1] ?? 0;
    login = `${given.subarray(2, 2 + nameLength).toString()}:${given.subarray(3 + nameLength).toString()}`;
    client.write(Buffer.from([1, 0]));
  }
  const wish = await next();
  const [host, port] =
    wish[3] === 1
      ? [[...wish.subarray(4, 8)].join('.'), wish.readUInt16BE(8)]
      : [wish.subarray(5, 5 + (wish[4] ?? 0)).toString(), wish.readUInt16BE(5 + (wish[4] ?? 0))];
  asked.push(`SOCKS ${host}:${port}${login && ` as ${login}`}`);
  const target = connect(port, host, () => client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
  tie(client, target);
}

function tie(client: Duplex, target: Duplex): void {
  for (const [from, to] of [
    [client, target],
    [target, client],
  ] as const) {
    from.on('error', () => undefined);
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

async function listen(server: Server, asked: string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** How a port behaves where there should be a server. */
export type Fault = 'nothing listens' | 'accepts and never answers' | 'closes at once' | 'answers 503';

const UNAVAILABLE =
  'HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ndown';

/** A port with a fault. */
export class FaultyPort {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(fault: Fault): Promise<FaultyPort> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = new FaultyPort(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (socket) => {
      port.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => port.sockets.delete(socket));
      if (fault === 'closes at once') socket.destroy();
      if (fault === 'answers 503') socket.on('data', () => socket.write(UNAVAILABLE));
    });
    if (fault === 'nothing listens') await port.stop();
    return port;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }
}

import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/**
 * A TCP link whose connections can go half open, as when a load balancer or a NAT forgets them: they stay, nothing
 * arrives any more in either direction, and neither side is notified. Connections that are made afterwards work.
 */
export class SwallowingLink {
  /** How many connections were made. */
  connections = 0;
  private readonly open = new Set<{ readonly sockets: readonly Socket[]; isDead: boolean }>();

  private constructor(private readonly server: Server) {}

  static async to(port: number): Promise<SwallowingLink> {
    const server = createServer();
    const link = new SwallowingLink(server);
    server.on('connection', (client) => link.join(client, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on nothing passes any more over the connections that there are. */
  swallow(): void {
    for (const pair of this.open) pair.isDead = true;
  }

  async close(): Promise<void> {
    for (const { sockets } of this.open) for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket, server: Socket): void {
    this.connections += 1;
    const pair = { sockets: [client, server], isDead: false };
    this.open.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk: Buffer) => void (pair.isDead || to.write(chunk)));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.open.delete(pair);
        if (!pair.isDead) to.destroy();
      });
    }
  }
}

import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A TCP link to a server that a test can cut and mend, while the server itself lives on. */
export class CuttableLink {
  private readonly sockets = new Set<Socket>();
  private cutOff = false;

  private constructor(
    private readonly server: Server,
    private readonly protocol: string,
  ) {}

  static async to(url: string): Promise<CuttableLink> {
    const target = new URL(url);
    const server = createServer();
    const link = new CuttableLink(server, target.protocol);
    server.on('connection', (incoming) => link.join(incoming, Number(target.port), target.hostname));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get url(): string {
    return `${this.protocol}//127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.cutOff = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.cutOff = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(incoming: Socket, port: number, host: string): void {
    if (this.cutOff) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(port, host);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

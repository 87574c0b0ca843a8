import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export type Direction = 'toServer' | 'toClient';

/** One direction of one connection: chunks wait until the link lets them through, in order. */
class Lane {
  private readonly waiting: { chunk: Buffer; dueMs: number }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly target: Socket,
    private readonly link: LinkState,
    private readonly direction: Direction,
  ) {}

  push(chunk: Buffer): void {
    if (this.waiting.length === 0 && this.link.delayMs === 0 && !this.link.held.has(this.direction)) {
      this.target.write(chunk);
      return;
    }
    this.waiting.push({ chunk, dueMs: performance.now() + this.link.delayMs });
    this.flush();
  }

  flush(): void {
    clearTimeout(this.timer);
    if (this.link.held.has(this.direction)) return;
    for (let first = this.waiting[0]; first; first = this.waiting[0]) {
      const leftMs = first.dueMs - performance.now();
      if (leftMs > 0) {
        this.timer = setTimeout(() => this.flush(), leftMs);
        return;
      }
      this.waiting.shift();
      if (!this.target.destroyed) this.target.write(first.chunk);
    }
  }
}

interface LinkState {
  held: Set<Direction>;
  delayMs: number;
  refusing: boolean;
  /** New connections are made after up to this long, so that they come back in another order. */
  shuffleMs: number;
}

/** A TCP link that can be cut, stalled, slowed down, or made to work in one direction only. */
export class TcpProxy {
  private readonly link: LinkState = { held: new Set(), delayMs: 0, refusing: false, shuffleMs: 0 };
  private readonly pairs = new Set<{ sockets: [Socket, Socket]; lanes: [Lane, Lane] }>();
  private readonly server: Server;
  /** Sees every chunk to the server before it is passed on; one for which it answers `drop` is not. */
  onToServer: ((chunk: Buffer) => 'pass' | 'drop') | undefined;

  constructor(private target: { readonly port: number }) {
    this.server = createServer((client) => this.accept(client));
  }

  /** New connections go there from now on. */
  retarget(port: number): void {
    this.target = { port };
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    this.destroyAll();
  }

  /** Breaks every connection; new ones are refused until {@link heal}. */
  cut(): void {
    this.link.refusing = true;
    this.destroyAll();
  }

  /** Breaks every connection; new ones stand at once. */
  reset(): void {
    this.destroyAll();
  }

  hold(...directions: Direction[]): void {
    for (const direction of directions) this.link.held.add(direction);
  }

  slowDown(delayMs: number): void {
    this.link.delayMs = delayMs;
  }

  shuffleReconnects(longestMs: number): void {
    this.link.shuffleMs = longestMs;
  }

  /** @param breakHeld what was held back is lost with its connections, as after a timeout of TCP */
  heal({ breakHeld = false } = {}): void {
    if (breakHeld) this.destroyAll();
    Object.assign(this.link, { delayMs: 0, refusing: false, shuffleMs: 0 });
    this.link.held.clear();
    for (const { lanes } of this.pairs) for (const lane of lanes) lane.flush();
  }

  private accept(client: Socket): void {
    client.on('error', () => client.destroy());
    if (this.link.refusing) {
      client.destroy();
      return;
    }
    client.pause();
    setTimeout(() => this.join(client), this.link.shuffleMs * Math.random());
  }

  private join(client: Socket): void {
    if (client.destroyed) return;
    client.setNoDelay(true);
    const server = connect({ port: this.target.port, host: '127.0.0.1', noDelay: true });
    const lanes: [Lane, Lane] = [
      new Lane(server, this.link, 'toServer'),
      new Lane(client, this.link, 'toClient'),
    ];
    const pair = { sockets: [client, server] as [Socket, Socket], lanes };
    this.pairs.add(pair);
    const end = (): void => {
      client.destroy();
      server.destroy();
      this.pairs.delete(pair);
    };
    for (const socket of pair.sockets) socket.on('error', end).on('close', end);
    client.on('data', (chunk: Buffer) => {
      if (this.onToServer?.(chunk) !== 'drop') lanes[0].push(chunk);
    });
    server.on('data', (chunk: Buffer) => lanes[1].push(chunk));
    client.resume();
  }

  private destroyAll(): void {
    for (const { sockets } of [...this.pairs]) for (const socket of sockets) socket.destroy();
  }
}

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

/** A connection of a client with the one that the link has made for it. */
interface Pair {
  readonly sockets: readonly [client: Socket, server: Socket];
  readonly lanes: readonly [toServer: Lane, toClient: Lane];
  isSwallowed: boolean;
}

export interface LinkTarget {
  readonly port: number;
  /** @default 127.0.0.1 */
  readonly host?: string;
  /** The scheme of {@link TcpLink.url}, with its colon. @default 'tcp:' */
  readonly protocol?: string;
}

/** A TCP link that can be cut, stalled, slowed down, made to work in one direction only, or forgotten half open. */
export class TcpLink {
  private readonly link: LinkState = { held: new Set(), delayMs: 0, refusing: false, shuffleMs: 0 };
  private readonly pairs = new Set<Pair>();
  private readonly server: Server;
  /** How many connections were made. */
  connections = 0;
  /** Sees every chunk to the server before it is passed on; one for which it answers `drop` is not. */
  onToServer: ((chunk: Buffer) => 'pass' | 'drop') | undefined;

  constructor(private target: LinkTarget) {
    this.server = createServer((client) => this.accept(client));
  }

  /** Starts a link to the server at `url`. */
  static async to(url: string): Promise<TcpLink> {
    const { hostname, port, protocol } = new URL(url);
    const link = new TcpLink({ port: Number(port), host: hostname, protocol });
    await link.start();
    return link;
  }

  /** The URL of the server that leads over the link. */
  get url(): string {
    return `${this.target.protocol ?? 'tcp:'}//127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** New connections go there from now on. */
  retarget(port: number): void {
    this.target = { ...this.target, port };
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    this.destroyAll();
  }

  /** Stops, and waits for the end of every connection. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.once('close', resolve));
    this.stop();
    await closed;
  }

  /** Breaks every connection; new ones are refused until {@link heal}. */
  cut(): void {
    this.link.refusing = true;
    this.destroyAll();
  }

  /** Breaks every connection; new ones are made at once. */
  reset(): void {
    this.destroyAll();
  }

  /**
   * Makes the connections of now half open, as when a load balancer or a NAT forgets them: they stay, nothing arrives any more
   * in either direction, and neither side is notified. Connections that are made afterwards work.
   */
  swallow(): void {
    for (const pair of this.pairs) pair.isSwallowed = true;
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
    if (this.link.refusing) client.destroy();
    if (client.destroyed) return;
    this.connections += 1;
    client.setNoDelay(true);
    const { host = '127.0.0.1', port } = this.target;
    const server = connect({ port, host, noDelay: true });
    const toServer = new Lane(server, this.link, 'toServer');
    const toClient = new Lane(client, this.link, 'toClient');
    const pair: Pair = { sockets: [client, server], lanes: [toServer, toClient], isSwallowed: false };
    this.pairs.add(pair);
    const end = (): void => {
      if (!pair.isSwallowed) for (const socket of pair.sockets) socket.destroy();
      if (pair.sockets.every(({ destroyed }) => destroyed)) this.pairs.delete(pair);
    };
    for (const socket of pair.sockets) socket.on('error', end).on('close', end);
    client.on('data', (chunk: Buffer) => {
      if (!pair.isSwallowed && this.onToServer?.(chunk) !== 'drop') toServer.push(chunk);
    });
    server.on('data', (chunk: Buffer) => void (pair.isSwallowed || toClient.push(chunk)));
    client.resume();
  }

  private destroyAll(): void {
    for (const { sockets } of [...this.pairs]) for (const socket of sockets) socket.destroy();
  }
}

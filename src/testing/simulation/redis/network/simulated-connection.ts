import type { Clock } from '@rollkeeper/machinery/clock';
import type { Network, Transmission } from './network.js';
import { SimulatedSocket } from './simulated-socket.js';

/** The server's end of a connection. */
export interface ServerEnd {
  receive(bytes: string): void;
  /** The connection is gone; nothing that is sent arrives any more. */
  closed(): void;
}

export interface Listener {
  /** Whether connections are accepted; otherwise they are refused. */
  isUp(): boolean;
  accept(connection: SimulatedConnection): ServerEnd;
}

type Direction = 'request' | 'reply';

/** One connection between a client and the simulated server, without a socket of the machine. */
export class SimulatedConnection {
  readonly socket: SimulatedSocket;
  private server: ServerEnd | undefined;
  private readonly underway: Readonly<Record<Direction, string[]>> = { request: [], reply: [] };
  private readonly dropped = new Set<Direction>();
  /** Nothing more is sent. */
  private isOver = false;
  /** Nothing more arrives. */
  private isLost = false;

  constructor(
    readonly id: number,
    private readonly listener: Listener,
    private readonly network: Network,
    clock: Clock,
  ) {
    this.socket = new SimulatedSocket(
      {
        send: (bytes) => this.send('request', bytes),
        end: () => this.hangUp(),
        destroyed: () => this.leave(),
      },
      clock,
    );
    this.deliver('connect', 'server', '', () => this.connect());
  }

  get isOpen(): boolean {
    return this.server !== undefined;
  }

  /** Sends bytes to the client. */
  reply(bytes: string): void {
    this.send('reply', bytes);
  }

  /** The connection is reset: both ends see it, and what was under way is lost. */
  reset(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isLost = true;
    this.closeServer();
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
    this.deliver('close', 'client', '', () => this.socket.destroy(error));
  }

  /** The server closes the connection after what it sent before. */
  finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.closeServer();
    this.deliver('close', 'client', '', () => {
      for (const bytes of this.underway.reply.splice(0)) this.socket.receive(bytes);
      this.socket.receiveEnd();
    });
  }

  /** From now on, nothing arrives in these directions, and neither end learns of it. */
  silence(...directions: readonly Direction[]): void {
    for (const direction of directions) {
      this.dropped.add(direction);
      this.underway[direction].length = 0;
    }
  }

  private connect(): void {
    if (this.isOver) return;
    if (this.listener.isUp()) {
      this.server = this.listener.accept(this);
      this.deliver('accept', 'client', '', () => this.socket.connected());
      return;
    }
    this.isOver = true;
    const error = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    this.deliver('close', 'client', '', () => this.socket.destroy(error));
  }

  private send(direction: Direction, bytes: string): void {
    if (this.isOver || this.dropped.has(direction)) return;
    this.underway[direction].push(bytes);
    this.deliver(direction, direction === 'request' ? 'server' : 'client', bytes, () => {
      const next = this.underway[direction].shift();
      if (next === undefined || this.isLost) return;
      if (direction === 'request') this.server?.receive(next);
      else this.socket.receive(next);
    });
  }

  /** The client has ended its side, or its process has died: the server reads what came before, and closes. */
  hangUp(): void {
    if (this.isOver || this.dropped.has('request')) return;
    this.deliver('close', 'server', '', () => {
      if (this.isOver) return;
      for (const bytes of this.underway.request.splice(0)) this.server?.receive(bytes);
      this.finish();
    });
  }

  /** The client's end is gone. With a silent network, the server does not learn of it. */
  private leave(): void {
    if (this.isOver) return;
    if (this.dropped.has('request')) return;
    this.isOver = true;
    this.deliver('close', 'server', '', () => this.closeServer());
  }

  private closeServer(): void {
    const { server } = this;
    this.server = undefined;
    server?.closed();
  }

  private deliver(
    kind: Transmission['kind'],
    to: Transmission['to'],
    bytes: string,
    arrive: () => void,
  ): void {
    this.network.deliver({ connection: this.id, kind, to, bytes }, arrive);
  }
}

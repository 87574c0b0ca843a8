import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

interface ConnectionsOptions {
  readonly clock: Pick<Clock, 'monotonicNow' | 'setTimeout'>;
  /** Concurrent, in total. */
  readonly most: number;
  /** At once of one address, of those without credentials; this machine's own addresses have no such limit. */
  readonly mostUnknownPerAddress: number;
  /** How long one without credentials may be idle between requests, milliseconds. */
  readonly unknownIdleMs: number;
}

/** The facts that are kept of a socket. */
export interface Connected {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface Connection {
  socket: Connected;
  readonly id: string;
  readonly address: string;
  /** The user of its requests; undefined: no request had credentials. */
  user: string | undefined;
  /** Requests under way on it. */
  busy: number;
  /** Whether the body of one of them is still awaited. */
  isSending: boolean;
  /** Since when it is idle, or its body is awaited. */
  sinceMs: number;
}

/**
 * The connections of one server. When there are too many, one is closed for a newcomer. Connections without credentials are
 * closed first: those that have been answered, then those that have asked nothing yet, then those with a request under way,
 * each time the oldest. Next comes the oldest connection of the user with the most connections that are idle or have sent half
 * of a request. Requests of known users that have been sent whole stay: the limits of requests in flight bound them.
 */
export class Connections {
  private readonly all = new Map<string, Connection>();
  private readonly bySocket = new WeakMap<Connected, Connection>();
  /** Without credentials, with nothing asked yet, in the order of their coming. Node's own limits of time end them. */
  private readonly fresh = new Set<Connection>();
  /** Without credentials, answered and idle, idle longest first. */
  private readonly idle = new Set<Connection>();
  /** Without credentials so far, with a request under way, in the order of their beginning. */
  private readonly asking = new Set<Connection>();
  /** By address, all without credentials. */
  private readonly unknown = new Map<string, Set<Connection>>();
  private timer: TimerHandle | undefined;

  constructor(private readonly options: ConnectionsOptions) {}

  get size(): number {
    return this.all.size;
  }

  /**
   * Registers a new connection, and closes another one for it if needed. Closes the new one if no other can be closed, or if
   * its client has disconnected already.
   */
  opened(socket: Connected): void {
    const { remoteAddress: address } = socket;
    if (address === undefined || !this.makeRoomAt(address) || !this.makeRoom()) return void socket.destroy();
    const connection: Connection = {
      socket,
      id: idOf(socket),
      address,
      user: undefined,
      busy: 0,
      isSending: false,
      sinceMs: this.options.clock.monotonicNow(),
    };
    this.all.set(connection.id, connection);
    this.fresh.add(connection);
    this.unknown.set(address, (this.unknown.get(address) ?? new Set<Connection>()).add(connection));
    this.follow(socket, connection);
  }

  /** The same connection with TLS around it. */
  secured(socket: Connected): void {
    const connection = this.all.get(idOf(socket));
    if (!connection) return;
    connection.socket = socket;
    this.follow(socket, connection);
  }

  /** A request has come. */
  began(socket: Connected): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.busy++;
    this.fresh.delete(connection);
    this.idle.delete(connection);
    if (connection.user === undefined) this.asking.add(connection);
  }

  /** The sender of its requests is known: the connection is theirs from now on. */
  belongsTo(socket: Connected, user: string): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.user = user;
    this.asking.delete(connection);
    this.leaveAddress(connection);
  }

  /** The body of its request is awaited from now on, or is so no longer. */
  sends(socket: Connected, isSending: boolean): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.isSending = isSending;
    connection.sinceMs = this.options.clock.monotonicNow();
  }

  /** A request has been answered, or given up. */
  ended(socket: Connected): void {
    const connection = this.bySocket.get(socket);
    if (!connection || --connection.busy > 0 || !this.all.has(connection.id)) return;
    connection.isSending = false;
    connection.sinceMs = this.options.clock.monotonicNow();
    this.asking.delete(connection);
    if (connection.user !== undefined) return;
    this.idle.add(connection);
    this.arm();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private follow(socket: Connected, connection: Connection): void {
    this.bySocket.set(socket, connection);
    socket.once('close', () => this.forget(connection));
  }

  private makeRoomAt(address: string): boolean {
    const there = this.unknown.get(address);
    if (!there || there.size < this.options.mostUnknownPerAddress || isLoopbackAddress(address)) return true;
    return this.end([...there].find(({ busy }) => busy === 0) ?? firstOf(there));
  }

  private makeRoom(): boolean {
    if (this.all.size < this.options.most) return true;
    return this.end(
      firstOf(this.idle) ?? firstOf(this.fresh) ?? firstOf(this.asking) ?? this.oldestOfGreediest(),
    );
  }

  /** Looked for only where every connection is a known user's. */
  private oldestOfGreediest(): Connection | undefined {
    const held = [...this.all.values()].filter(({ busy, isSending }) => busy === 0 || isSending);
    const byUser = Map.groupBy(held, ({ user }) => user);
    const most = [...byUser.values()].reduce<Connection[]>((a, b) => (b.length > a.length ? b : a), []);
    return most.reduce<Connection | undefined>((a, b) => (a && a.sinceMs <= b.sinceMs ? a : b), undefined);
  }

  private end(connection: Connection | undefined): boolean {
    if (!connection) return false;
    this.forget(connection);
    connection.socket.destroy();
    return true;
  }

  private forget(connection: Connection): void {
    // Another may have come from the same port meanwhile.
    if (this.all.get(connection.id) === connection) this.all.delete(connection.id);
    this.fresh.delete(connection);
    this.idle.delete(connection);
    this.asking.delete(connection);
    this.leaveAddress(connection);
  }

  private leaveAddress(connection: Connection): void {
    const there = this.unknown.get(connection.address);
    if (there?.delete(connection) && there.size === 0) this.unknown.delete(connection.address);
  }

  private arm(): void {
    const longest = firstOf(this.idle);
    if (!longest || this.timer) return;
    const { clock, unknownIdleMs } = this.options;
    const dueMs = longest.sinceMs + unknownIdleMs - clock.monotonicNow();
    this.timer = clock.setTimeout(() => this.endLate(), Math.max(dueMs, 1));
  }

  private endLate(): void {
    this.timer = undefined;
    const { clock, unknownIdleMs } = this.options;
    const before = clock.monotonicNow() - unknownIdleMs;
    for (const connection of this.idle) {
      if (connection.sinceMs > before) break;
      this.end(connection);
    }
    this.arm();
  }
}

/** The same with TLS and without. */
function idOf({ remoteAddress, remotePort }: Connected): string {
  return `${remoteAddress} ${remotePort}`;
}

function firstOf<T>(items: ReadonlySet<T>): T | undefined {
  const [first] = items;
  return first;
}

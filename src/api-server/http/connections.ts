import type { Clock, TimerHandle } from '../../base/clock/index.js';

export interface ConnectionsOptions {
  readonly clock: Pick<Clock, 'monotonicNow' | 'setTimeout'>;
  /** At once, of everybody. */
  readonly most: number;
  /** At once of one address, of those that are nobody's who is known; this machine's own addresses have no such limit. */
  readonly mostUnknownPerAddress: number;
  /** How long one that is nobody's who is known may be idle between requests, milliseconds. */
  readonly unknownIdleMs: number;
}

/** What this keeps of a socket. */
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
  /** Whose requests it has brought; undefined: nobody's who is known. */
  user: string | undefined;
  /** Requests under way on it. */
  busy: number;
  idleSinceMs: number;
}

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;

/**
 * The connections of one server. When there are too many, idle ones give way to a newcomer: first of those that are nobody's who is known,
 * the one that has been idle longest, those that have been answered before those that have not begun; then of the user who has
 * most. Those that are at work stay.
 */
export class Connections {
  private readonly all = new Map<string, Connection>();
  private readonly bySocket = new WeakMap<Connected, Connection>();
  /** Nobody's who is known, with nothing asked yet, in the order of their coming. Node's own limits of time end them. */
  private readonly fresh = new Set<Connection>();
  /** Nobody's who is known, answered and idle, idle longest first. */
  private readonly idle = new Set<Connection>();
  /** By address, all that are nobody's who is known. */
  private readonly unknown = new Map<string, Set<Connection>>();
  private timer: TimerHandle | undefined;

  constructor(private readonly options: ConnectionsOptions) {}

  get size(): number {
    return this.all.size;
  }

  /** A newcomer, for whom others may have to go. It goes itself where all of them are at work, or where it has gone already. */
  opened(socket: Connected): void {
    const { remoteAddress: address } = socket;
    if (address === undefined || !this.makeRoomAt(address) || !this.makeRoom()) return void socket.destroy();
    const idleSinceMs = this.options.clock.monotonicNow();
    const connection = { socket, id: idOf(socket), address, user: undefined, busy: 0, idleSinceMs };
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
  }

  /** Who sends requests here is known: the connection is theirs from now on. */
  belongsTo(socket: Connected, user: string): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.user = user;
    this.leaveAddress(connection);
  }

  /** A request has been answered, or given up. */
  ended(socket: Connected): void {
    const connection = this.bySocket.get(socket);
    if (!connection || --connection.busy > 0 || !this.all.has(connection.id)) return;
    connection.idleSinceMs = this.options.clock.monotonicNow();
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
    if (!there || there.size < this.options.mostUnknownPerAddress || LOOPBACK.test(address)) return true;
    return this.end([...there].find(({ busy }) => busy === 0));
  }

  private makeRoom(): boolean {
    if (this.all.size < this.options.most) return true;
    const [first] = [...firstOf(this.idle), ...firstOf(this.fresh)];
    return this.end(first ?? this.idleOfGreediest());
  }

  /** Only looked for where every idle connection is somebody's who is known. */
  private idleOfGreediest(): Connection | undefined {
    const idle = [...this.all.values()].filter(({ busy }) => busy === 0);
    const byUser = Map.groupBy(idle, ({ user }) => user);
    const most = [...byUser.values()].reduce<Connection[]>((a, b) => (b.length > a.length ? b : a), []);
    return most.toSorted((a, b) => a.idleSinceMs - b.idleSinceMs)[0];
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
    this.leaveAddress(connection);
  }

  private leaveAddress(connection: Connection): void {
    const there = this.unknown.get(connection.address);
    if (there?.delete(connection) && there.size === 0) this.unknown.delete(connection.address);
  }

  private arm(): void {
    const [longest] = this.idle;
    if (!longest || this.timer) return;
    const { clock, unknownIdleMs } = this.options;
    const dueMs = longest.idleSinceMs + unknownIdleMs - clock.monotonicNow();
    this.timer = clock.setTimeout(() => this.endLate(), Math.max(dueMs, 1));
  }

  private endLate(): void {
    this.timer = undefined;
    const { clock, unknownIdleMs } = this.options;
    const before = clock.monotonicNow() - unknownIdleMs;
    for (const connection of this.idle) {
      if (connection.idleSinceMs > before) break;
      this.end(connection);
    }
    this.arm();
  }
}

/** The same with TLS and without. */
function idOf({ remoteAddress, remotePort }: Connected): string {
  return `${remoteAddress} ${remotePort}`;
}

function firstOf<T>(items: ReadonlySet<T>): T[] {
  for (const item of items) return [item];
  return [];
}

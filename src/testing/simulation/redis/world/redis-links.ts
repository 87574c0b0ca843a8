import type { Network } from '../../network.js';
import type { SimulatedProcess } from '../../process.js';
import type { Network as RedisNetwork, Transmission } from '../network/network.js';
import type { SimulatedConnection } from '../network/simulated-connection.js';

/** A connection that carries nothing in one direction is noticed by one of its ends, and reset, after so long; milliseconds. */
const SILENT_MS = [1000, 25_000] as const;

/** The parts of the world that the connections to a simulated Redis need. */
export interface RedisLinksOptions {
  readonly server: SimulatedProcess;
  readonly network: Network;
  /** The process that runs. */
  readonly current: () => SimulatedProcess;
  /** The connection of a number, if the server has it. */
  readonly connectionOf: (id: number) => SimulatedConnection | undefined;
}

/**
 * The connections to a simulated Redis, over the network of the world. A stream loses, doubles and reorders nothing:
 * a message that is lost there leaves its connection half open here, and one that is doubled breaks the connection before the
 * answer, so that the client sends the request again.
 */
export class RedisLinks implements RedisNetwork {
  private readonly clients = new Map<number, SimulatedProcess>();
  private readonly silent = new Set<number>();

  constructor(private readonly options: RedisLinksOptions) {}

  /** The process that made a connection. */
  clientOf(connection: number): SimulatedProcess | undefined {
    return this.clients.get(connection);
  }

  deliver(transmission: Transmission, arrive: () => void): void {
    const { network, server } = this.options;
    const client = this.clientOfNew(transmission);
    const { kind, to } = transmission;
    if (kind === 'request') network.onEffect(client, 'before', 'redis');
    if (!client.isAlive && kind === 'request') return;
    const [from, receiver] = to === 'server' ? [client, server] : [server, client];
    if (this.isLost(transmission, from, receiver)) return;
    receiver.after(network.latency(from, receiver), () => {
      if (kind !== 'request' && kind !== 'reply')
        server.kernel.note(from.name, receiver.name, `redis ${kind}`);
      arrive();
      if (kind === 'request') network.onEffect(client, 'after', 'redis');
    });
  }

  /** From now on, a connection carries nothing in this direction, until one of its ends notices that. */
  silence(id: number, direction: 'request' | 'reply'): void {
    const { connectionOf, network, server } = this.options;
    const connection = connectionOf(id);
    if (!connection || this.silent.has(id)) return;
    this.silent.add(id);
    network.count('connection half open');
    server.kernel.note(server.name, this.clients.get(id)?.name ?? '', `redis connection ${id} is half open`);
    connection.silence(direction);
    const [shortest, longest] = SILENT_MS;
    server.kernel.after(shortest + (longest - shortest) * server.kernel.random.next() ** 2, () => {
      if (this.silent.delete(id)) connection.reset();
    });
  }

  /** Ends what is half open. */
  heal(): void {
    for (const id of this.silent) this.options.connectionOf(id)?.reset();
    this.silent.clear();
  }

  private clientOfNew({ connection, kind }: Transmission): SimulatedProcess {
    const known = this.clients.get(connection);
    if (known) return known;
    const client = this.options.current();
    if (kind !== 'connect') throw new Error(`connection ${connection} was not made before its first ${kind}`);
    this.clients.set(connection, client);
    client.onKilled(() => this.options.connectionOf(connection)?.hangUp());
    return client;
  }

  private isLost(
    { connection, kind, to }: Transmission,
    from: SimulatedProcess,
    receiver: SimulatedProcess,
  ): boolean {
    const { connectionOf, network } = this.options;
    if (kind === 'close' || kind === 'accept') return false;
    if (network.happens('lost', from, receiver)) {
      this.silence(connection, to === 'server' ? 'request' : 'reply');
      return true;
    }
    const isDoubled = kind === 'reply' && network.happens('doubled', from, receiver);
    if (!isDoubled && !network.happens('broken', from, receiver)) return false;
    connectionOf(connection)?.reset();
    return true;
  }
}

import type { RedisOptions } from 'ioredis';
import { AbstractConnector } from 'ioredis';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { SimulatedSocket } from './simulated-socket.js';

/** After this time, a connection that was to be closed is destroyed; milliseconds. */
const DISCONNECT_TIMEOUT_MS = 2000;

/** Gives ioredis the sockets of a simulated server. */
export function connectorTo(
  clock: Clock,
  connect: () => SimulatedSocket,
): NonNullable<RedisOptions['Connector']> {
  return class SimulatedConnector extends AbstractConnector {
    constructor() {
      super(DISCONNECT_TIMEOUT_MS);
    }

    override async connect(): Promise<never> {
      this.connecting = true;
      await Promise.resolve();
      if (!(this.connecting as boolean)) throw new Error('Connection is closed.');
      const socket = connect();
      this.stream = socket as never;
      return socket as never;
    }

    override disconnect(): void {
      this.connecting = false;
      const { stream } = this;
      if (!(stream as unknown)) return;
      const timer = clock.setTimeout(() => stream.destroy(), DISCONNECT_TIMEOUT_MS);
      stream.on('close', () => timer.cancel());
      stream.end();
    }
  };
}

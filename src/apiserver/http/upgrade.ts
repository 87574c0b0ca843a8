import type { IncomingMessage, Server } from 'node:http';
import { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { UpgradeResponse } from './api-response.js';

/** Limit of a client's messages: typed keys. */
const MAX_MESSAGE_BYTES = 64 * 1024;

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Whether a request asks for a WebSocket: other upgrades are requests like any others. */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Requests that ask for another protocol: answered as others, unless the answer is that the protocol changes. */
export class Upgrades {
  private readonly asked = new WeakMap<IncomingMessage, Upgrade>();
  /** The connections that HTTP no longer knows. */
  private readonly sockets = new Set<Duplex>();
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (_offered, { headers }) => protocols.get(headers) ?? false,
  });

  /** Hands requests that ask for an upgrade to `listener` with a response that goes to the client as usual. */
  listen(server: Server, listener: (message: IncomingMessage, response: ServerResponse) => void): void {
    server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      // A client that leaves while nothing is read is noticed at the next write.
      socket.on('error', () => socket.destroy());
      this.asked.set(message, { socket, head });
      const response = new ServerResponse(message);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      listener(message, response);
    });
  }

  /** Changes the protocol, and serves the connection. */
  accept(message: IncomingMessage, response: ServerResponse, answer: UpgradeResponse): void {
    const upgrade = this.asked.get(message);
    if (!upgrade) throw new RangeError('the request asks for no other protocol');
    const { head, socket } = upgrade;
    response.detachSocket(socket as Socket);
    protocols.set(message.headers, answer.protocol);
    this.server.handleUpgrade(message, socket, head, (connection) => {
      connection.on('error', () => connection.terminate());
      answer.serve({
        send: (data) => connection.send(data),
        close: () => connection.close(1000),
      });
    });
  }

  /** Ends the connections that are left. */
  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

/** The protocol that was agreed on, by the headers of the request. */
const protocols = new WeakMap<object, string>();

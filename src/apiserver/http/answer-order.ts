import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on one connection for the answers before theirs. */
const MOST_WAITING = 64;

/** The parts of a response that are used here. Node gives it a socket once the answers before it have been sent. */
type Queued = Pick<ServerResponse, 'socket' | 'once'>;

/**
 * Lets a request begin once its answer can be sent: a client may send several without waiting, and is answered in order.
 * One that began earlier would hold room and a place while the client does not read the answers before it.
 */
export class AnswerOrder {
  private readonly waiting = new WeakMap<Socket, Set<() => void>>();

  /**
   * Undefined: it can be sent now. Else a promise, of whether the connection is still there.
   * Ends a connection on which too many requests wait.
   */
  turn(message: Pick<IncomingMessage, 'socket'>, response: Queued): Promise<boolean> | undefined {
    if (response.socket) return undefined;
    const { socket } = message;
    const leavers = this.leaversOf(socket);
    if (leavers.size >= MOST_WAITING) socket.destroy();
    if (socket.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = (): void => resolve(false);
      leavers.add(leave);
      response.once('socket', () => {
        leavers.delete(leave);
        resolve(true);
      });
    });
  }

  /** One listener for each connection, however many of its requests wait. */
  private leaversOf(socket: Socket): Set<() => void> {
    const known = this.waiting.get(socket);
    if (known) return known;
    const leavers = new Set<() => void>();
    this.waiting.set(socket, leavers);
    socket.once('close', () => {
      for (const leave of leavers) leave();
      leavers.clear();
    });
    return leavers;
  }
}

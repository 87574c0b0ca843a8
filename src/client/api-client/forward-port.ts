import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { toError } from '@rollkeeper/machinery/errors';
import { listeningAddress } from '@rollkeeper/machinery/listening';
import type { ApiClient } from './api-client.js';

/** The options of {@link forwardPort}. */
export interface ForwardPortOptions {
  /** The port of this machine. @default chosen by the system */
  readonly localPort?: number;
  /** The address at which it listens. @default 127.0.0.1 */
  readonly host?: string;
  /** Closes it. @default never */
  readonly signal?: AbortSignal;
  /** A connection could not be made, or broke. It is closed, and the port keeps listening. @default ignored */
  readonly onError?: (error: Error) => void;
}

/** A port of this machine that leads to a pod. */
export interface ForwardedPort extends AsyncDisposable {
  /** The port of this machine. */
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * A port of this machine that leads to one of a pod, as `kubectl port-forward`: each connection to it is one to the pod. Resolves when it
 * listens; the pod is not asked before the first connection.
 */
export async function forwardPort(
  client: Pick<ApiClient, 'portForward'>,
  pod: ObjectRef,
  port: number,
  { host = '127.0.0.1', localPort = 0, onError = () => undefined, signal }: ForwardPortOptions = {},
): Promise<ForwardedPort> {
  signal?.throwIfAborted();
  const sockets = new Set<Socket>();
  const ended = new AbortController();
  const serve = async (socket: Socket): Promise<void> => {
    const stream = await client.portForward(pod, port, { signal: ended.signal });
    socket.on('close', () => stream.destroy());
    socket.pipe(stream);
    stream.pipe(socket);
    await finished(stream, { writable: false });
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    serve(socket).catch((error: unknown) => {
      // The client has left, which is no failure of the connection to the pod.
      const isOver = socket.destroyed || ended.signal.aborted;
      socket.destroy();
      if (!isOver) onError(toError(error));
    });
  });
  server.listen(localPort, host);
  await once(server, 'listening');
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= new Promise((resolve) => {
      stopListening();
      ended.abort();
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
    return closing;
  };
  const stopListening = signal ? onAbort(signal, () => void close()) : () => undefined;
  return { port: listeningAddress(server).port, close, [Symbol.asyncDispose]: close };
}

import type { Dispatcher, MessageEvent, WebSocket } from 'undici';
import { reasonOf } from '@rollkeeper/machinery/cancellation';
import type { CredentialHeaders } from './cluster-connection.js';
import { UnsupportedError } from '@rollkeeper/machinery/errors';

interface ChannelsRequest {
  /** `wss://…/exec?command=ls` */
  readonly url: string;
  /** In the order of preference. */
  readonly protocols: readonly string[];
  readonly headers: CredentialHeaders;
  readonly dispatcher: Dispatcher;
}

interface ChannelListener {
  onMessage(channel: number, data: Buffer): void;
  /** Once, however it ended. */
  onClose(): void;
}

const CONNECTION_OPEN = 1;

/**
 * Several streams of bytes on one WebSocket: the first byte of a message is its channel (`v5.channel.k8s.io`).
 * Source: apimachinery/pkg/util/remotecommand.
 */
export class PodChannels {
  private listener: ChannelListener | undefined;
  private readonly early: Buffer[] = [];
  private hasClosed = false;

  private constructor(private readonly socket: WebSocket) {
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => this.receive(data));
    socket.addEventListener('close', () => {
      this.hasClosed = true;
      this.listener?.onClose();
    });
    // The end of the connection follows.
    socket.addEventListener('error', () => undefined);
  }

  /** Undefined: the server did not take up the protocol. Rejects with the signal's reason. */
  static async open(
    { dispatcher, headers, protocols, url }: ChannelsRequest,
    signal: AbortSignal | undefined,
  ): Promise<PodChannels | undefined> {
    // Loaded where it is used: few operators run commands in pods.
    const { Agent, WebSocket } = await import('undici');
    requireUndici(Agent);
    signal?.throwIfAborted();
    const fields = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    const socket = new WebSocket(url, { protocols: [...protocols], headers: fields, dispatcher });
    const channels = new PodChannels(socket);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        channels.close();
        if (signal) reject(reasonOf(signal));
      };
      const settle = (opened: PodChannels | undefined): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(opened);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      socket.addEventListener('open', () => settle(channels));
      socket.addEventListener('close', () => settle(undefined));
    });
  }

  /** The protocol that the server has chosen. */
  get protocol(): string {
    return this.socket.protocol;
  }

  /** Bytes that have not left this process yet. */
  get pendingBytes(): number {
    return this.socket.bufferedAmount;
  }

  /** From now on, what has come before included. Once. */
  listen(listener: ChannelListener): void {
    this.listener = listener;
    for (const message of this.early.splice(0)) this.deliver(message);
    if (this.hasClosed) listener.onClose();
  }

  /** Nothing, once the connection has ended. */
  send(channel: number, data: Uint8Array): void {
    if (this.socket.readyState !== CONNECTION_OPEN) return;
    const message = new Uint8Array(data.length + 1);
    message[0] = channel;
    message.set(data, 1);
    this.socket.send(message);
  }

  close(): void {
    this.socket.close();
  }

  private receive(data: ArrayBuffer | string): void {
    const message = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
    if (message.length === 0) return;
    if (this.listener) this.deliver(message);
    else this.early.push(message);
  }

  private deliver(message: Buffer): void {
    this.listener?.onMessage(message[0]!, message.subarray(1));
  }
}

/**
 * Bun answers an import of `undici` with a module of its own that has only a part of it.
 * @throws UnsupportedError
 */
export function requireUndici(Agent: { readonly prototype: object }): void {
  if ('compose' in Agent.prototype) return;
  throw new UnsupportedError(
    'this runtime puts a module of its own in the place of the package undici, as Bun does, and commands and ports of pods need the ' +
      'package: run the operator on Node or Deno, or bundle it first (docs/KIT.md#runtimes)',
  );
}

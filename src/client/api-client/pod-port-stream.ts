import { Duplex } from 'node:stream';
import type { Clock } from '@rollkeeper/machinery/clock';
import { onAbort, reasonOf } from '@rollkeeper/machinery/cancellation';
import type { PodChannels } from './pod-channels.js';
import { ApiConnectionError } from './transport-errors.js';

/** Sources: portforward/websocket.go in kubelet/pkg/cri/streaming. */
export const PORT_PROTOCOLS: readonly string[] = ['v4.channel.k8s.io'];

const DATA = 0;
const ERROR = 1;
/** Each channel begins with the port's number, of two bytes. */
const PORT_BYTES = 2;
/** More than this waits in this process: the writer has to wait, too. */
const HIGH_WATER_BYTES = 256 * 1024;
const LOOK_AGAIN_MS = 5;

/** One connection to a port of a pod, as a stream. */
export class PodPortStream extends Duplex {
  private readonly begun = new Set<number>();
  private readonly stopListening: () => void;

  /** @param name `port 8080 of pods/web`, for errors */
  constructor(
    private readonly channels: PodChannels,
    private readonly name: string,
    private readonly clock: Pick<Clock, 'setTimeout'>,
    signal: AbortSignal | undefined,
  ) {
    super({ allowHalfOpen: true });
    this.stopListening = signal ? onAbort(signal, () => this.destroy(reasonOf(signal))) : () => undefined;
    channels.listen({
      onMessage: (channel, data) => this.receive(channel, data),
      onClose: () => {
        this.push(null);
        // Nothing that is written from now on would arrive.
        this.end();
      },
    });
  }

  override _read(): void {
    // Messages come when they come.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.channels.send(DATA, chunk);
    this.whenDrained(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.stopListening();
    this.channels.close();
    done(error);
  }

  private whenDrained(done: () => void): void {
    if (this.destroyed || this.channels.pendingBytes <= HIGH_WATER_BYTES) done();
    else this.clock.setTimeout(() => this.whenDrained(done), LOOK_AGAIN_MS);
  }

  private receive(channel: number, message: Buffer): void {
    const data = this.begun.has(channel) ? message : message.subarray(PORT_BYTES);
    this.begun.add(channel);
    if (data.length === 0) return;
    if (channel === DATA) this.push(data);
    else if (channel === ERROR)
      this.destroy(new ApiConnectionError(`${this.name}: ${data.toString().trim()}`));
  }
}

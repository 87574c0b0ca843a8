import { Duplex } from 'node:stream';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';

/** The calls by which the other side of a socket does. Bytes are characters. */
export interface Wire {
  send(bytes: string): void;
  end(): void;
  destroyed(): void;
}

/** The client's end of a simulated connection, with what ioredis uses of a `net.Socket`. */
export class SimulatedSocket extends Duplex {
  connecting = true;
  readonly remoteAddress = 'simulated';
  readonly remotePort = 6379;
  private timer: TimerHandle | undefined;

  constructor(
    private readonly wire: Wire,
    private readonly clock: Clock,
  ) {
    super({ allowHalfOpen: false });
  }

  connected(): void {
    if (this.destroyed) return;
    this.connecting = false;
    this.emit('connect');
  }

  receive(bytes: string): void {
    if (!this.destroyed) this.push(Buffer.from(bytes, 'latin1'));
  }

  receiveEnd(): void {
    if (this.destroyed) return;
    this.push(null);
    this.resume();
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** @param ms 0 ends it */
  setTimeout(ms: number, callback?: () => void): this {
    this.timer?.cancel();
    this.timer = undefined;
    if (callback) this.once('timeout', callback);
    if (ms > 0) this.timer = this.clock.setTimeout(() => this.emit('timeout'), ms);
    return this;
  }

  override _read(): void {
    // Bytes are pushed when they arrive.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.wire.send(chunk.toString('latin1'));
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.wire.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.timer?.cancel();
    this.wire.destroyed();
    done(error);
  }
}

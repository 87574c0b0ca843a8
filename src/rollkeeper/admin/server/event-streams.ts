import { once } from 'node:events';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Response } from 'express';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { FeedEvent, Viewer } from './feed-events.js';

interface EventStreamLimits {
  /** Limit of streams per client; beyond it, the oldest is closed. @default 20 */
  readonly perClient?: number;
  /** The same for streams that other replicas ask for on behalf of a client: each of them lets it have as many as `perClient`. @default 200 */
  readonly perClientOfReplicas?: number;
  /** Limit of unread bytes per stream; a slower viewer is disconnected and reconnects. @default 4 MiB */
  readonly waitingEach?: number;
  /** Limit of unread bytes in total; beyond it, the slowest viewer is disconnected. @default 64 MiB */
  readonly waitingInAll?: number;
}

const DEFAULTS: Required<EventStreamLimits> = {
  // Forgotten browser tabs.
  perClient: 20,
  perClientOfReplicas: 200,
  waitingEach: 4 << 20,
  waitingInAll: 64 << 20,
};

/**
 * The open streams of server-sent events. Bounded per client, but not in total: a client that opens many only evicts
 * its own, and others are always accepted.
 */
export class EventStreams implements BeforeApplicationShutdown {
  /** By client, in opening order. */
  private readonly byClient = new Map<string, Set<EventStream>>();
  private readonly limits: Required<EventStreamLimits>;
  /** Serializes an event for all viewers once. */
  private readonly frames = new WeakMap<FeedEvent, string>();

  constructor(limits: EventStreamLimits = {}) {
    this.limits = { ...DEFAULTS, ...limits };
  }

  /**
   * @param reader the client, as far as known: see `clientOf`
   * @param by whether it asks itself, or another replica does for it. @default 'page'
   */
  open(reader: string, response: Response, by: 'page' | 'replica' = 'page'): EventStream {
    const client = `${by} ${reader}`;
    this.makeRoom(client, by === 'page' ? this.limits.perClient : this.limits.perClientOfReplicas);
    const stream: EventStream = new EventStream(response, {
      frameOf: (event) => this.frameOf(event),
      onSent: () => this.sendSlowestOff(stream),
      onEnd: () => this.forget(client, stream),
    });
    const streams = this.byClient.get(client) ?? new Set();
    this.byClient.set(client, streams.add(stream));
    return stream;
  }

  private makeRoom(client: string, most: number): void {
    const streams = this.byClient.get(client);
    const [oldest] = streams ?? [];
    if (streams && streams.size >= most) oldest?.giveWay();
  }

  /** A stop must not wait for open pages. */
  beforeApplicationShutdown(): void {
    for (const stream of this.all()) stream.end();
  }

  private all(): EventStream[] {
    return [...this.byClient.values()].flatMap((streams) => [...streams]);
  }

  private forget(client: string, stream: EventStream): void {
    const streams = this.byClient.get(client);
    streams?.delete(stream);
    if (streams?.size === 0) this.byClient.delete(client);
  }

  private sendSlowestOff(sent: EventStream): void {
    if (sent.waiting > this.limits.waitingEach) return sent.cut();
    const streams = this.all();
    let inAll = streams.reduce((sum, { waiting }) => sum + waiting, 0);
    if (inAll <= this.limits.waitingInAll) return;
    for (const slowest of streams.toSorted((a, b) => b.waiting - a.waiting)) {
      if (inAll <= this.limits.waitingInAll) return;
      inAll -= slowest.waiting;
      slowest.cut();
    }
  }

  private frameOf(event: FeedEvent): string {
    const known = this.frames.get(event);
    if (known !== undefined) return known;
    const frame = `event: ${event.type}\ndata: ${stringifyJson(event)}\n\n`;
    this.frames.set(event, frame);
    return frame;
  }
}

interface StreamHooks {
  readonly frameOf: (event: FeedEvent) => string;
  readonly onSent: () => void;
  readonly onEnd: () => void;
}

/** One stream. Its signal aborts when it has no reader any more. */
export class EventStream implements Viewer {
  private readonly gone = new AbortController();

  constructor(
    private readonly response: Response,
    private readonly hooks: StreamHooks,
  ) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.once('close', () => this.leave());
  }

  get signal(): AbortSignal {
    return this.gone.signal;
  }

  /** Bytes that the viewer has not read yet. */
  get waiting(): number {
    return this.response.writableLength;
  }

  send(event: FeedEvent): void {
    if (this.gone.signal.aborted) return;
    this.response.write(this.hooks.frameOf(event));
    this.hooks.onSent();
  }

  async drained(): Promise<void> {
    if (!this.response.writableNeedDrain) return;
    await once(this.response, 'drain', { signal: this.signal }).catch(() => undefined);
  }

  /** Reports to the page that it was evicted; the page then reconnects only when it becomes visible. */
  giveWay(): void {
    this.response.write(this.hooks.frameOf({ type: 'gave-way' }));
    this.end();
  }

  end(): void {
    this.leave();
    this.response.end();
  }

  /** Drops unread data: it would not be read. */
  cut(): void {
    this.leave();
    this.response.destroy();
  }

  private leave(): void {
    this.gone.abort();
    this.hooks.onEnd();
  }
}

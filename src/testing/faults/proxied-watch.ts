import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import { GONE_EVENT } from './given-answer.js';
import type { SeenRequest } from './request-match.js';

/** The fate of an event of a watch. */
export interface EventDecision {
  /** How late it is after its arrival, milliseconds. @default 0 */
  readonly delayMs?: number;
  /** `cut`: the watch breaks after it; `gone`: it ends with 410 in place of the event. @default neither */
  readonly end?: 'cut' | 'gone';
}

/** Decides about the events of watches. */
export interface EventDecisions {
  /** Called with the watch of an event when it is the event's turn. */
  decideEvent(watch: SeenRequest): EventDecision;
  /** Resolves when events of that watch may be sent. Rejects with the signal's reason. */
  untilOpen(watch: SeenRequest, signal: AbortSignal): Promise<void>;
}

interface ProxiedWatchParts {
  readonly request: SeenRequest;
  /** Whether it begins with all objects that there are. */
  readonly hasInitialEvents: boolean;
  /** The server's answer. */
  readonly events: IncomingMessage;
  /** The client's side. */
  readonly answer: ServerResponse;
  readonly decisions: EventDecisions;
  readonly clock: Clock;
}

interface Arrived {
  readonly frame: Buffer;
  readonly atMs: number;
}

/** One watch on its way through: its events in their order, late, or not at all. */
export class ProxiedWatch {
  private readonly arrived: Arrived[] = [];
  private readonly over = new AbortController();
  private readonly frames: WatchFrames;
  private hasEnded = false;
  private isSilent = false;
  private isInitial: boolean;
  private wake: () => void = () => undefined;

  constructor(private readonly parts: ProxiedWatchParts) {
    const type = parts.events.headers['content-type'] ?? '';
    this.frames = new WatchFrames(type.startsWith('application/json'));
    this.isInitial = parts.hasInitialEvents;
  }

  get request(): SeenRequest {
    return this.parts.request;
  }

  /** Resolves when the watch is over. Never rejects. */
  async run(): Promise<void> {
    const { answer, clock, events } = this.parts;
    events.on('data', (chunk: Buffer) => {
      const atMs = clock.monotonicNow();
      for (const frame of this.frames.take(chunk)) this.arrived.push({ frame, atMs });
      this.wake();
    });
    events.on('end', () => this.end());
    events.on('error', () => this.cut());
    answer.on('close', () => this.cut());
    try {
      await this.pass();
    } catch (error) {
      if (!this.over.signal.aborted) throw error;
    } finally {
      events.destroy();
    }
  }

  /** It breaks, as when the network does. */
  cut(): void {
    this.over.abort(new ShutdownError('the watch was cut'));
    this.parts.answer.destroy();
    this.wake();
  }

  /** The server does not know any more what was between: the client has to list. */
  endAsGone(): void {
    this.parts.answer.end(GONE_EVENT);
    this.over.abort(new ShutdownError('the watch has ended with 410'));
    this.wake();
  }

  /** Nothing comes any more, not even its end: what happens from now on is lost for it. */
  silence(): void {
    this.isSilent = true;
  }

  /** Breaks a silenced watch. The client can then resume from where it was. */
  heal(): void {
    if (this.isSilent) this.cut();
  }

  private async pass(): Promise<void> {
    const { signal } = this.over;
    while (!signal.aborted) {
      const next = this.arrived.shift();
      if (next) await this.passOne(next);
      else if (this.hasEnded && !this.isSilent) return void this.parts.answer.end();
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private async passOne({ atMs, frame }: Arrived): Promise<void> {
    const { answer, clock, decisions, request } = this.parts;
    const { signal } = this.over;
    if (this.isInitial) {
      this.isInitial = !endsInitialEvents(frame);
      answer.write(frame);
      return;
    }
    const { delayMs = 0, end } = decisions.decideEvent(request);
    if (end === 'gone') return this.endAsGone();
    const leftMs = atMs + delayMs - clock.monotonicNow();
    if (delayMs > 0 && leftMs > 0) await clock.sleep(leftMs, signal);
    await decisions.untilOpen(request, signal);
    if (this.isSilent || signal.aborted) return;
    answer.write(frame);
    if (end === 'cut') this.cut();
  }

  private end(): void {
    this.hasEnded = true;
    this.wake();
  }
}

const LINE_END = 10;

/**
 * Takes the body of a watch apart into events. Events of JSON are lines; in any other form (protobuf) what arrived together is one
 * piece.
 */
export class WatchFrames {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly isJson: boolean) {}

  /** The events that are complete with this chunk, each with its end. */
  take(chunk: Buffer): Buffer[] {
    if (!this.isJson) return [chunk];
    const text = Buffer.concat([this.rest, chunk]);
    const frames: Buffer[] = [];
    let from = 0;
    for (let end = text.indexOf(LINE_END); end >= 0; end = text.indexOf(LINE_END, from)) {
      frames.push(text.subarray(from, end + 1));
      from = end + 1;
    }
    this.rest = text.subarray(from);
    return frames;
  }
}

/** Whether it is the bookmark that ends the objects which a watch began with (KEP-3157). */
export function endsInitialEvents(frame: Buffer): boolean {
  return frame.includes('"k8s.io/initial-events-end":"true"');
}

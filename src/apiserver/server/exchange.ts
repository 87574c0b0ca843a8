import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { ApiServerMetrics } from './api-server-metrics.js';
import type { CountedRequest } from './count-request.js';
import { countRequest } from './count-request.js';
import { ApiRequest } from '../http/index.js';
import type { ByteBudget, RequestGate, RequestHost, RequestSignals } from '../http/index.js';
import type { KindRegistry } from '../kinds/index.js';

/** The parts that all requests share: what they are counted by, and the room that they take turns in. */
export interface SharedByRequests {
  readonly clock: Clock;
  readonly kinds: KindRegistry;
  readonly metrics: ApiServerMetrics;
  readonly signals: RequestSignals;
  readonly gate: RequestGate;
  readonly bodies: ByteBudget;
  readonly answers: ByteBudget<ApiRequest>;
  readonly watches: ByteBudget<ApiRequest>;
}

/** One request and its answer, for as long as the server is at it; counted, with a place among the requests at work. */
export class Exchange implements RequestHost {
  readonly request: ApiRequest;
  /** The client has authenticated itself, or the server is open to all. */
  isKnown = false;
  private readonly counted: CountedRequest;
  private place: (() => void) | undefined;

  constructor(
    readonly message: IncomingMessage,
    readonly response: ServerResponse,
    private readonly shared: SharedByRequests,
  ) {
    this.request = new ApiRequest(message, this);
    this.counted = countRequest(this.request, shared.kinds, shared);
  }

  /** @throws StatusError 413, 429 */
  async receiveBody(): Promise<void> {
    this.counted.received(await this.request.receiveBody());
  }

  /** Waits for a place among the requests at work. @throws StatusError 429 */
  async takePlace(): Promise<void> {
    this.place = await this.shared.gate.enter(this.counted.sort, this.request);
  }

  leavePlace(): void {
    this.place?.();
    this.place = undefined;
  }

  /** The work is done and the answer only has to be read. A watch works until its end. */
  leavePlaceUnlessWatch(): void {
    if (this.counted.sort !== 'watch') this.leavePlace();
  }

  /** It is over; counted as answered with this code. */
  done(code: number): void {
    this.counted.done(code);
  }

  /** It was refused so that others are served; `done` follows. */
  refusedForOthers(): void {
    this.counted.terminated(429);
  }

  makeSignal(): AbortSignal {
    return this.shared.signals.of(this.response);
  }

  get bodies(): ByteBudget {
    return this.shared.bodies;
  }

  roomFor(isWatch: boolean): ByteBudget<ApiRequest> {
    return isWatch ? this.shared.watches : this.shared.answers;
  }

  giveUp(): void {
    this.counted.terminated(this.response.statusCode);
    this.response.destroy();
  }

  onWaiting(): void {
    this.leavePlaceUnlessWatch();
  }

  onClose(callback: () => void): void {
    this.response.once('close', callback);
  }
}

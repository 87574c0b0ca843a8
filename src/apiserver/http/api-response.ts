import type { Reservation } from './byte-budget.js';

/** A whole answer; `body` is encoded as the client asked. */
export interface ObjectResponse {
  readonly status: number;
  readonly body: object;
  /**
   * The room that is already reserved for it. Absent: room is reserved if the answer is large. Released once it has been sent.
   */
  readonly room?: Reservation;
}

/** An answer that is already bytes or text. */
export interface RawResponse {
  readonly status: number;
  readonly raw: string | Buffer;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As that of an object. */
  readonly room?: Reservation;
}

/** An answer that continues until its source ends: a watch. */
export interface StreamResponse {
  readonly status: number;
  /** Pulled when the client has read the previous piece. */
  readonly stream: AsyncIterable<string | Buffer>;
  readonly contentType: string;
  /** Has an end that does not depend on what happens, and may be sent compressed. @default false */
  readonly isWhole?: boolean;
}

/** The connection continues as a WebSocket: only for requests that ask for one. */
export interface UpgradeResponse {
  readonly status: 101;
  /** One of those that the client has offered. */
  readonly protocol: string;
  /** Called once, after the response header was sent. */
  serve(connection: MessageConnection): void;
}

/** The server's end of a WebSocket. */
export interface MessageConnection {
  send(data: Buffer): void;
  /** After what has been sent. */
  close(): void;
}

export type ApiResponse = ObjectResponse | RawResponse | StreamResponse | UpgradeResponse;

export function ok(body: object): ObjectResponse {
  return { status: 200, body };
}

export function created(body: object): ObjectResponse {
  return { status: 201, body };
}

/** The content type of Prometheus' texts. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** A text; browsers are not to guess what it is. */
export function plainText(status: number, raw: string): RawResponse {
  return {
    status,
    raw,
    contentType: 'text/plain; charset=utf-8',
    headers: { 'X-Content-Type-Options': 'nosniff' },
  };
}

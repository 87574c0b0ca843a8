import type { ServerResponse } from 'node:http';

/** An answer that a proxy gives in the server's place. */
export type GivenAnswer =
  /** A `Status` with this code, as an API server refuses. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason: string;
      /** @default 'made by the faults of the test' */
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** This document. */
  | { readonly kind: 'json'; readonly code: number; readonly json: unknown }
  /** A watch that ends at once with 410: its client has to list. */
  | { readonly kind: 'gone' }
  /** The connection breaks without an answer. */
  | { readonly kind: 'cut' }
  /** Nothing comes, and the connection stays until the proxy is healed. */
  | { readonly kind: 'silence' };

/** The connection breaks in the middle of the server's answer. */
export interface HalfSent {
  readonly kind: 'half-sent';
}

const FAILURE = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
const MADE_HERE = 'made by the faults of the test';

/** The last event of a watch whose server no longer knows the changes since the version that was asked for. */
export const GONE_EVENT = `${JSON.stringify({
  type: 'ERROR',
  object: {
    ...FAILURE,
    message: `too old resource version (${MADE_HERE})`,
    reason: 'Expired',
    code: 410,
  },
})}\n`;

/** Sends the answer, or breaks the connection. */
export function giveAnswer(given: Exclude<GivenAnswer, { kind: 'silence' }>, to: ServerResponse): void {
  switch (given.kind) {
    case 'status':
      return giveStatus(given, to);
    case 'json':
      return void to.writeHead(given.code, JSON_BODY).end(JSON.stringify(given.json));
    case 'gone':
      return void to.writeHead(200, JSON_BODY).end(GONE_EVENT);
    case 'cut':
      return void to.destroy();
  }
}

const JSON_BODY = { 'content-type': 'application/json' };

function giveStatus(given: Extract<GivenAnswer, { kind: 'status' }>, to: ServerResponse): void {
  const { code, message = MADE_HERE, reason, retryAfterSeconds } = given;
  const hasWait = retryAfterSeconds !== undefined;
  const body = { ...FAILURE, message, reason, ...(hasWait && { details: { retryAfterSeconds } }), code };
  const wait = hasWait ? { 'retry-after': String(retryAfterSeconds) } : {};
  to.writeHead(code, { ...JSON_BODY, ...wait }).end(JSON.stringify(body));
}

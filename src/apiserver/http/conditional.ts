import { createHash } from 'node:crypto';
import type { ApiRequest } from './api-request.js';
import type { RawResponse } from './api-response.js';

/** An answer with an ETag made of its content, for documents that clients ask for again and again. */
export function tagged(raw: string | Buffer, contentType: string): RawResponse {
  return { status: 200, raw, contentType, headers: { ETag: etagOf(raw), Vary: 'Accept' } };
}

export function etagOf(content: string | Buffer): string {
  return `"${createHash('sha256').update(content).digest('hex').slice(0, 32).toUpperCase()}"`;
}

/** The content of an ETag, which is only produced for clients that do not have it. */
export function unlessKnownAs(
  etag: string,
  contentType: string,
  make: () => string | Buffer,
  { headers }: Pick<ApiRequest, 'headers'>,
): RawResponse {
  const isKnown = headers['if-none-match'] === etag;
  const said = { ETag: etag, Vary: 'Accept' };
  return { status: isKnown ? 304 : 200, raw: isKnown ? '' : make(), contentType, headers: said };
}

/** 304 instead of an answer that the client already has. */
export function unlessKnown(answer: RawResponse, request: Pick<ApiRequest, 'headers'>): RawResponse {
  const known = request.headers['if-none-match'];
  return known !== undefined && known === answer.headers?.['ETag']
    ? { ...answer, status: 304, raw: '' }
    : answer;
}

import { createHash } from 'node:crypto';
import type { ApiRequest } from './api-request.js';
import type { RawResponse } from './api-response.js';

/** An answer with an ETag made of its content, for documents that clients ask for again and again. */
export function tagged(raw: string | Buffer, contentType: string): RawResponse {
  const etag = `"${createHash('sha256').update(raw).digest('hex').slice(0, 32).toUpperCase()}"`;
  return { status: 200, raw, contentType, headers: { ETag: etag, Vary: 'Accept' } };
}

/** 304 in place of an answer of which the client says that it has it. */
export function unlessKnown(answer: RawResponse, request: Pick<ApiRequest, 'headers'>): RawResponse {
  const known = request.headers['if-none-match'];
  return known !== undefined && known === answer.headers?.['ETag']
    ? { ...answer, status: 304, raw: '' }
    : answer;
}
